from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from disconer.adapt.batches import UNASKED, Masked, Masker

MASK, VOCABULARY = 4, 50
SPECIAL = (0, 1, 2, 3, MASK)


def masker(probability: float) -> Masker:
    return Masker(
        probability=probability, mask=MASK, special=SPECIAL, vocabulary=VOCABULARY, device=torch.device("cpu")
    )


def random_ids(seed: int, length: int = 32) -> Tensor:
    torch.manual_seed(seed)
    return torch.randint(len(SPECIAL), VOCABULARY, (6, length))


def asked(masked: Masked) -> Tensor:
    """(B, L) where something is to be guessed."""
    return torch.zeros(masked.inputs.shape, dtype=torch.bool).scatter(1, masked.places, masked.targets != UNASKED)


@given(st.integers(0, 1_000), st.sampled_from([0.05, 0.15, 0.4]))
def test_targets_are_what_stood_there_and_nothing_else_changes(seed: int, probability: float) -> None:
    ids = random_ids(seed)
    ids[:, 0], ids[:, -1] = 2, 3
    masked = masker(probability)(ids)
    where = asked(masked)
    assert where.sum(1).tolist() == [max(1, round(probability * 32))] * 6
    assert not where[:, [0, -1]].any()
    assert masked.inputs[~where].equal(ids[~where])
    restored = masked.inputs.scatter(1, masked.places, masked.targets)
    assert restored.equal(ids)


@given(st.integers(0, 1_000), st.integers(1, 9))
def test_whole_words_or_nothing_of_them(seed: int, longest: int) -> None:
    ids = random_ids(seed)
    lengths = torch.randint(1, longest + 1, (6, 32))
    words = torch.stack([torch.arange(32).repeat_interleave(row)[:32] for row in lengths])
    where = asked(masker(0.25)(ids, words))
    for row, word_row in zip(where, words, strict=True):
        assert set(word_row[row].tolist()).isdisjoint(word_row[~row].tolist())
    assert (where.sum(1) <= 8).all()
    assert where.any()


def test_most_become_masks_some_others_some_stay() -> None:
    ids = random_ids(0, length=4_000)
    masked = masker(0.5)(ids)
    where = asked(masked)
    seen, were = masked.inputs[where], ids[where]
    groups = torch.stack([seen == MASK, (seen != MASK) & (seen != were), seen == were])
    torch.testing.assert_close(groups.float().mean(1), torch.tensor([0.8, 0.1, 0.1]), atol=0.02, rtol=0)
    assert not set(SPECIAL[:-1]) & set(seen.tolist())


def test_sequences_of_marks_alone_ask_nothing() -> None:
    masked = masker(0.15)(torch.full((2, 32), 3))
    assert (masked.targets == UNASKED).all()
    assert (masked.inputs == 3).all()
