"""The transition head: targets of windows, the loss against actions one by one, greedy and beam search."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path as FilePath

import numpy as np
import pytest
import torch

from disconer import DisconerError, Document, Entity, Recognizer
from disconer.export.onnx import export_model
from disconer.nn.devices import WordBatch
from disconer.nn.heads.transition import TRANSITION
from disconer.nn.heads.transition.actions import FIRST_COMPLETE, State, entities_of
from disconer.nn.heads.transition.decoding import Decoder, Hints, Path
from disconer.nn.heads.transition.head import TransitionHead
from disconer.nn.heads.transition.kind import TransitionSettings
from disconer.nn.heads.transition.targets import action_targets
from nn.heads.sentences import cut, words
from nn.toy import toy_model

TEXT = "a b c d e f g h i j"  # ten words of one character, two apart
SMALL = {"stack": 5, "actions": 3, "hidden": 6, "dropout": 0.0}
WORD_SIZE = 4


def lively_head(**settings: object) -> TransitionHead:
    torch.manual_seed(5)
    head = TRANSITION.build(TransitionSettings(**SMALL, **settings), ["ADR", "Drug"], word_size=WORD_SIZE).eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.8)
    return head


class Sentences:
    """As much of a batch as the head reads."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = list(lengths)
        self.word_mask = torch.arange(max(lengths)) < torch.tensor(self.lengths)[:, None]
        self.own_mask = self.word_mask
        self.real_words = self.word_mask.flatten().nonzero()[:, 0]


def batch_of(*lengths: int) -> tuple[torch.Tensor, WordBatch]:
    torch.manual_seed(6)
    batch: WordBatch = Sentences(lengths)  # type: ignore[assignment]
    return torch.randn(len(lengths), max(lengths), WORD_SIZE), batch


def random_actions(n_words: int, seed: int) -> list[int]:
    rng, state, actions = np.random.default_rng(seed), State(), []
    while any(valid := state.valid(n_words)):
        may = [n for n, group in enumerate((0, 0, 1, 1, 1, 2, 2)) if valid[group]]
        actions.append(int(rng.choice(may)))
        state = state.after(actions[-1])
    return actions


def scored_one_by_one(
    head: TransitionHead, sentence: torch.Tensor, actions: Sequence[int], hints: Hints | None = None
) -> list[float]:
    """The log probabilities of actions of a sentence by itself, as prediction computes them."""
    mask = torch.ones(1, len(sentence), dtype=torch.bool)
    decoder = Decoder(head.nodes, head.past, head.scorer, words=sentence[None], word_mask=mask, beam=7, hints=hints)
    path, states, scores = Path(0, head.past.start), None, []
    for action in actions:
        best, chosen, states = decoder._likeliest([path], [len(sentence)], states)
        scores.append(best[0][chosen[0].index(action)])
        [node] = decoder._make([(path, action)])
        path = path.after(action, scores[-1], 0, node)
    return scores


@torch.no_grad()
def test_levels_of_a_batch_give_what_actions_one_by_one_give() -> None:
    head, lengths = lively_head(), [14, 1, 20, 4]
    sentences, batch = batch_of(*lengths)
    actions = [random_actions(n, seed) for seed, n in enumerate(lengths)]
    targets = [action_targets(one, np.ones(n, dtype=bool)) for one, n in zip(actions, lengths, strict=True)]
    made = head.batch_targets(targets)
    scores = head.log_probabilities(sentences, batch, made)
    assert {3, 4} <= {action for one in actions for action in one}
    for row, (one, n_words) in enumerate(zip(actions, lengths, strict=True)):
        expected = scored_one_by_one(head, sentences[row, :n_words], one)
        assert scores[row, : len(one)].tolist() == pytest.approx(expected, abs=1e-5)
    assert float(head.loss(sentences, batch, made)) == pytest.approx(
        -sum(float(scores[row, : len(one)].sum()) for row, one in enumerate(actions)), rel=1e-5
    )
    assert len(made.levels) < max(map(len, actions))


def all_sequences(n_words: int) -> list[list[int]]:
    """Every way through a sentence."""
    unfinished, found = [(State(), [])], []
    while unfinished:
        state, actions = unfinished.pop()
        valid = state.valid(n_words)
        if not any(valid):
            found.append(actions)
        for action, group in enumerate((0, 0, 1, 1, 1, 2, 2)):
            if valid[group]:
                unfinished.append((state.after(action), [*actions, action]))
    return found


@torch.no_grad()
def test_probabilities_of_all_sequences_add_up_to_one_and_a_wide_beam_finds_the_best() -> None:
    head = lively_head(beam=200)
    sentences, batch = batch_of(2)
    ways = all_sequences(2)
    totals = [sum(scored_one_by_one(head, sentences[0], way)) for way in ways]
    assert np.exp(totals).sum() == pytest.approx(1, abs=1e-4)
    best = ways[int(np.argmax(totals))]
    [found] = Decoder(head.nodes, head.past, head.scorer, words=sentences, word_mask=batch.word_mask, beam=200)([2])
    assert [(one.label, one.span) for one in found] == entities_of(best)


@torch.no_grad()
@pytest.mark.parametrize("beam", [1, 3])
def test_a_window_finds_the_same_whatever_shares_its_batch(beam: int) -> None:
    head, lengths = lively_head(beam=beam), [7, 1, 9, 4]
    sentences, batch = batch_of(*lengths)
    together = head.collect(head.launch(sentences, batch))
    assert sum(map(len, together)) > 4
    for row, n_words in enumerate(lengths):
        alone: WordBatch = Sentences([n_words])  # type: ignore[assignment]
        [own] = head.collect(head.launch(sentences[row : row + 1, :n_words], alone))
        assert [one[:2] for one in own] == [one[:2] for one in together[row]]
        assert [one.score for one in own] == pytest.approx([one.score for one in together[row]], abs=1e-5)
        assert all(0 < one.score <= 1 for one in own)


def test_the_score_is_the_product_of_the_actions_that_made_an_entity() -> None:
    steps = [(0, -1.0), (0, -2.0), (3, -4.0), (FIRST_COMPLETE, -8.0), (1, -16.0), (0, -32.0), (2, -64.0)]
    path = Path(0, 7)
    for action, score in [*steps, (FIRST_COMPLETE + 1, -128.0)]:
        path = path.after(action, score, 0, 1)
    assert [tuple(one) for one in path.found] == [
        (0, 0b11, -1 - 2 - 4 - 8),
        (1, 0b1001, -1 - 32 - 64 - 128),  # the kept word, the new one, REDUCE, COMPLETE; not OUT
    ]
    assert path.score == -255


def test_what_a_window_cuts_teaches_nothing_there() -> None:
    """Words 4 to 7 are an entity, and windows end after word 5 and start with it."""
    head = lively_head()
    made, entities = cut(Document("d", TEXT, (Entity("ADR", words((0, 2))), Entity("ADR", words((4, 8))))), 6)
    first, second = (head.window_targets(window, entities) for window in made)
    assert first.actions.tolist() == [0, 0, 2, FIRST_COMPLETE, 1, 1, 1, 1]
    assert first.taught.tolist() == [True] * 6 + [False] * 2
    assert second.taught.tolist() == [False] * 3 + [True] * 2


def test_entities_with_other_labels_are_left_out() -> None:
    made, entities = cut(Document("d", TEXT, (Entity("Other", words((0, 2))),)), 20)
    assert set(lively_head().window_targets(made[0], entities).actions.tolist()) == {1}


def test_there_is_no_graph_of_it_and_that_is_said(tmp_path: FilePath) -> None:
    model = toy_model(("ADR",), head={"kind": "transition", **SMALL})
    with pytest.raises(DisconerError, match="A head of kind transition has no ONNX graph"):
        export_model(model, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    found = Recognizer(model).pipe(["Pain and stiffness in my knees.", "", "k " * 90])
    assert [len(document.text) for document in found] == [31, 0, 180]


def test_memory_grows_with_words_and_beam() -> None:
    costs = [TRANSITION.cells(n, TransitionSettings(beam=beam), ["A"]) for beam, n in product((1, 4), (10, 20))]
    assert costs == sorted(costs)
    assert costs[0] < costs[1] == 2 * costs[0] < costs[2] == 4 * costs[0]
