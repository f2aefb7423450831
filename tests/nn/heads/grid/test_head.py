"""The grid head: targets of windows, scores, loss, prediction, and the same without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu, logsigmoid

from disconer import DisconerError, Document, Entity, Recognizer
from disconer.export.onnx import export_model
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch, sent_at_once
from disconer.nn.heads.grid import GRID
from disconer.nn.heads.grid.graph_reader import NEIGHBOURS
from disconer.nn.heads.grid.head import GridHead
from disconer.nn.heads.grid.kind import GridSettings
from disconer.nn.heads.grid.pair_graph import PairGraph
from disconer.nn.heads.grid.pair_grid import Cells
from disconer.nn.layers import gap_class
from disconer.nn.reader import Subwords
from disconer.nn.windows import MAX_WORDS, Window, windows
from disconer.store.checkpoint import Model
from disconer.text import segment
from disconer.text.alignment import TokenEntity, align
from nn.toy import toy_model, word_batch

TEXT = "a b c d e f g h i j"  # ten words of one character, two apart
SMALL = {"channels": 4, "biaffine": 5, "hidden": 6, "dropout": 0.0}


def words(*ranges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((2 * first, 2 * end - 1) for first, end in ranges)


def lively_grid(*, without_context: bool = False, **settings: object) -> Model:
    """A grid that finds much. without_context: on word vectors that are quickly exported."""
    words: dict[str, Any] = {"layers": 0, "encoder": {"lstm": None}} if without_context else {}
    model = toy_model(("ADR", "Drug"), **words, head={"kind": "grid", **SMALL, **settings})
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.network.head.parameters():
            parameter.normal_(0, 0.7, generator=generator)
    return model


def prepared(model: Model, document: Document, *, max_subwords: int) -> tuple[list[Window], list[TokenEntity]]:
    document = segment(document)
    [sentence], [entities] = document.sentences or (), align(document)[0]
    n_words = len(sentence.tokens)
    subwords = Subwords(np.arange(n_words) + 5, np.arange(n_words), np.arange(1, n_words + 1))
    return windows(sentence, subwords, max_subwords=max_subwords), entities


def test_targets_are_cells_of_entities_and_links_between_their_words() -> None:
    entities = (Entity("Drug", words((0, 3))), Entity("ADR", words((1, 2), (4, 6))), Entity("Other", words((7, 8))))
    model = lively_grid()
    [window], aligned = prepared(model, Document("d", TEXT, entities), max_subwords=20)
    targets = model.network.head.window_targets(window, aligned)
    assert targets.entities.T.tolist() == [[0, 2, 1, 0], [1, 4, 0, 1]]
    assert targets.links.T.tolist() == [[0, 1], [1, 1], [1, 3], [4, 1]]
    assert targets.unknown.tolist() == []


def test_entities_out_of_reach_are_no_targets() -> None:
    model = lively_grid(reach=4)
    entities = (Entity("ADR", words((0, 1), (4, 5))), Entity("ADR", words((0, 1), (3, 4))))
    [window], aligned = prepared(model, Document("d", TEXT, entities), max_subwords=20)
    targets = model.network.head.window_targets(window, aligned)
    assert targets.entities.T.tolist() == [[0, 3, 0, 1]]


def test_what_a_window_cuts_teaches_nothing_there() -> None:
    """Words 4 to 7 are an entity, and windows end after word 5 and start with it."""
    model = lively_grid()
    cut, aligned = prepared(model, Document("d", TEXT, (Entity("ADR", words((4, 8))),)), max_subwords=6)
    head: GridHead = model.network.head
    targets = [head.window_targets(window, aligned) for window in cut]
    assert [one.entities.shape[1] for one in targets] == [0, 0]
    assert [one.unknown.tolist() for one in targets] == [[4, 5], [0, 1, 2]]
    batch = word_batch(cut, model.reader)
    cells = head.launch(model.network.words(batch), batch).cells
    learnt = head._learnt(cells, batch, head.batch_targets(targets).unknown).bool()
    taught = {
        (int(row), int(first), int(first + gap))
        for row, first, gap in zip(cells.row[learnt], cells.first[learnt], cells.gap[learnt], strict=True)
    }
    first_window = {(0, a, b) for a in range(6) for b in range(a, 6) if not {a, b} & {4, 5}}
    assert {one for one in taught if one[0] == 0} == first_window
    assert all(not {a, b} & {0, 1, 2} for row, a, b in taught if row == 1)


def literal_scores(head: GridHead, sentence: torch.Tensor, first: int, second: int) -> torch.Tensor:
    """The scores of one pair, written out: no grid of gaps, no groups, no padding.  sentence: (n, d)"""
    grid, n_words = head.grid, len(sentence)
    n_gaps = min(head.reach or n_words, n_words)

    def features(i: int, j: int) -> torch.Tensor:
        if not (0 <= i <= j < n_words and j - i < n_gaps):
            return torch.zeros(grid.distance.embedding_dim)
        a, b = grid.added(sentence[i]).chunk(2)[0], grid.added(sentence[j]).chunk(2)[1]
        u, v = grid.multiplied(sentence[i]).chunk(2)[0], grid.multiplied(sentence[j]).chunk(2)[1]
        return gelu(a + b + u * v + grid.distance(gap_class(torch.tensor(j - i))))

    def convolved(layer: int, i: int, j: int) -> torch.Tensor:
        if layer == 0:
            return features(i, j)
        if not (0 <= i <= j < n_words and j - i < n_gaps):
            return torch.zeros(grid.distance.embedding_dim)
        convolution = grid.convolutions[layer - 1]
        step = convolution.dilation[0]
        total = convolution.bias
        for down in (-1, 0, 1):
            for along in (-1, 0, 1):  # to the next gap, not to the next word
                at = i + down * step
                seen = convolved(layer - 1, at, at + (j - i) + along * step)
                total = total + convolution.weight[:, :, down + 1, along + 1] @ seen
        return gelu(total)

    layers = [convolved(layer, first, second) for layer in range(len(grid.convolutions) + 1)]
    scores = grid.output(gelu(grid.hidden(torch.cat(layers))))
    biaffine = grid.biaffine
    left = torch.cat([gelu(biaffine.first(sentence[first])), torch.ones(1)])
    right = torch.cat([gelu(biaffine.second(sentence[second])), torch.ones(1)])
    matrices = biaffine.matrices.view(len(left), biaffine.n_scores, len(right))
    return scores + torch.einsum("x,xoy,y->o", left, matrices, right)


def test_cells_count_the_scores_of_many_labels() -> None:
    """Those of as many labels as real corpora have do not change the batches of prediction."""
    settings, labels = GridSettings(reach=48), [str(number) for number in range(300)]
    for n_words in range(1, MAX_WORDS + 1):
        assert GRID.cells(n_words, settings, labels[:21]) == n_words * min(48, n_words)
    assert GRID.cells(512, settings, labels) * 256 >= 512 * 512 * len(labels)


class Sentences:
    """As much of a batch as the head reads."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = list(lengths)
        self.own_mask = torch.arange(max(lengths)) < torch.tensor(self.lengths)[:, None]


def random_cells(reach: int | None, lengths: Sequence[int]) -> tuple[GridHead, torch.Tensor, Cells]:
    torch.manual_seed(3)
    head = GRID.build(GridSettings(**{**SMALL, "reach": reach, "dilations": (1, 2)}), ["A", "B"], word_size=7).eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.4)
    sentences = torch.randn(len(lengths), max(lengths), 7)
    batch: WordBatch = Sentences(lengths)  # type: ignore[assignment]
    return head, sentences, head.launch(sentences, batch).cells


@pytest.mark.parametrize("reach", [None, 3])
@torch.no_grad()
def test_scores_are_those_written_out_whatever_shares_the_batch(reach: int | None) -> None:
    lengths = [6, 1, 9, 20]  # of three groups
    head, sentences, cells = random_cells(reach, lengths)
    limits = [min(reach or n, n) for n in lengths]
    expected = [(row, i, g) for row, n in enumerate(lengths) for i in range(n) for g in range(min(limits[row], n - i))]
    assert sorted(zip(cells.row.tolist(), cells.first.tolist(), cells.gap.tolist(), strict=True)) == expected
    for row, first, gap, scores in zip(*cells, strict=True):
        if row != 3 or first % 5 == 0:
            own = sentences[row, : lengths[row]]
            torch.testing.assert_close(
                scores, literal_scores(head, own, int(first), int(first + gap)), rtol=1e-4, atol=1e-4
            )


@torch.no_grad()
@pytest.mark.parametrize("decoding", ["envelopes", "paths"])
def test_the_loss_is_that_written_out(decoding: str) -> None:
    model = lively_grid(decoding=decoding, gap_weight=3.0)
    model.network.eval()
    entities = (Entity("Drug", words((0, 3))), Entity("ADR", words((1, 2), (4, 6))))
    [window], aligned = prepared(model, Document("d", TEXT, entities), max_subwords=20)
    head, batch = model.network.head, word_batch([window], model.reader)
    vectors = model.network.words(batch)
    targets = head.batch_targets([head.window_targets(window, aligned)])
    _, first, gap, scores = head.launch(vectors, batch).cells
    cells = {(i, i + g): scores[number] for number, (i, g) in enumerate(zip(first.tolist(), gap.tolist(), strict=True))}
    expected = 0.0
    for place, own in cells.items():
        drug, adr = place == (0, 2), place == (1, 5)
        linked = place in {(0, 1), (1, 2), (1, 4), (4, 5)}
        for score, truth, weight in (
            (own[0], adr, 3.0 if adr else 1.0),
            (own[1], drug, 1.0),
            (own[2], linked, 3.0 if place == (1, 4) else 1.0),
            *([(own[3], drug, 1.0), (own[4], adr, 1.0)] if (drug or adr) and decoding == "envelopes" else []),
        ):
            expected -= weight * float(logsigmoid(score if truth else -score))
    assert float(head.loss(vectors, batch, targets)) == pytest.approx(expected, rel=1e-4)


@torch.no_grad()
def test_a_pair_that_is_an_entity_with_and_without_a_gap_has_the_larger_weight() -> None:
    """In whichever order the two are written: on a GPU there is none."""
    model = lively_grid(decoding="paths", gap_weight=3.0)
    model.network.eval()
    entities = (Entity("ADR", words((1, 6))), Entity("ADR", words((1, 2), (4, 6))))
    [window], aligned = prepared(model, Document("d", TEXT, entities), max_subwords=20)
    head, batch = model.network.head, word_batch([window], model.reader)
    vectors = model.network.words(batch)
    targets = head.batch_targets([head.window_targets(window, aligned)])
    reversed_targets = replace(targets, entities=targets.entities.flip(1))
    only_gapped = replace(targets, entities=targets.entities[:, targets.entities[-1] == 1])
    losses = [float(head.loss(vectors, batch, one)) for one in (targets, reversed_targets, only_gapped)]
    assert losses[0] == losses[1] == losses[2]


@pytest.mark.slow
@pytest.mark.parametrize("decoding", ["envelopes", "paths"])
def test_exported_it_finds_the_same(decoding: str, tmp_path: Path) -> None:
    model = lively_grid(without_context=True, decoding=decoding, reach=12, threshold=0.3)
    texts = ["Pain and stiffness in my knees, after 5 mg aspirin. No fever.", "p", "k " * 90, ""]
    export_model(model, tmp_path)
    before, after = Recognizer(model), Recognizer.from_pretrained(tmp_path)
    found = [[entity for document in ner.pipe(texts) for entity in document.entities] for ner in (before, after)]
    assert any(len(one.fragments) > 1 for one in found[0])
    assert any(len(one.fragments) == 1 for one in found[0])
    assert [one.key for one in found[1]] == [one.key for one in found[0]]
    assert [one.score for one in found[1]] == pytest.approx([one.score for one in found[0]], abs=2e-4)


@torch.no_grad()
def test_sizes_that_a_gpu_likes_change_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU, grids are filled up to few sizes; here with the same fillers on the CPU."""
    from disconer.nn import devices
    from disconer.nn.heads.grid import pair_grid as module

    model = lively_grid()
    texts = [TEXT[: 2 * n - 1] for n in (1, 3, 9, 10, 10, 2, 9, 9, 9, 9, 9, 10, 10)]
    cut = [prepared(model, Document("d", text), max_subwords=20)[0][0] for text in texts]
    batch = WordBatch.from_arrays(word_arrays([[window] for window in cut], model.reader, multiple=8))
    words = model.network.words(batch)
    plain = model.network.head.launch(words, batch)
    monkeypatch.setattr(module, "size_multiple", lambda device: devices.GPU_SIZE_MULTIPLE)
    monkeypatch.setattr(module, "padded_count", lambda count, _: devices.padded_count(count, torch.device("cuda")))
    monkeypatch.setattr(module, "sent", sent_at_once)
    [_, longer] = module.plan_grids(np.array(batch.lengths), model.network.head.reach, words.device)
    assert (longer.n_words, longer.n_gaps, len(longer.rows), longer.lengths.tolist()[-1]) == (16, 16, 16, 0)
    padded = model.network.head.launch(words, batch)
    for one, other in zip(plain.cells, padded.cells, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-4)
    found, again = (
        [[entity[:2] for entity in window] for window in model.network.head.collect(one)] for one in (plain, padded)
    )
    assert found == again
    assert any(found)
    monkeypatch.setattr(module, "cells_at_once", lambda device: 16 * 16 * 16)
    [every] = module.plan_grids(np.array(batch.lengths), model.network.head.reach, words.device)
    assert every.n_cells == 16 * 16 * 16
    together = model.network.head.launch(words, batch).cells
    torch.testing.assert_close(_by_place(together), _by_place(plain.cells))


def _by_place(cells: Cells) -> torch.Tensor:
    order = torch.argsort((cells.row * 100 + cells.first) * 100 + cells.gap)
    return cells.scores[order]


def test_no_value_on_the_device_is_asked_for_before_the_answer() -> None:
    """The device `meta` has shapes and no values: whatever would wait for a GPU to tell one is an error there."""
    model = toy_model(("ADR",), head={"kind": "grid", **SMALL}, encoder={"lstm": None})
    head, nowhere = model.network.head, torch.device("meta")
    entities = (Entity("ADR", words((1, 2), (4, 6))),)
    [window], aligned = prepared(model, Document("d", TEXT, entities), max_subwords=20)
    arrays = word_arrays([[window], [window]], model.reader, multiple=8)
    targets = head.batch_targets([head.window_targets(window, aligned)] * 2)
    network = model.network.to(nowhere)
    batch = WordBatch.from_arrays(arrays, nowhere)
    network(batch, targets.to(nowhere)).backward()
    assert all(parameter.grad is not None for parameter in head.parameters())
    scored = network.launch(batch)
    assert scored.cells.scores.shape == (2 * 55, 1 + 3)
    with pytest.raises((NotImplementedError, RuntimeError)):
        head.fetch(scored)


@pytest.mark.parametrize(("reach", "dilations"), [(None, (1, 2, 3)), (4, (1, 3)), (4, ())])
def test_the_graph_of_pairs_gives_the_scores_of_the_grid(reach: int | None, dilations: tuple[int, ...]) -> None:
    """It leaves out what lies past the ends of sentences, which the grid computes and masks."""
    torch.manual_seed(3)
    settings = GridSettings(reach=reach, dilations=dilations, channels=4, biaffine=5, hidden=6)
    head = GRID.build(settings, ["A", "B"], word_size=8).eval()
    words, lengths = torch.randn(3, 9, 8), np.array([9, 2, 6])
    seen: dict[str, torch.Tensor] = {}

    def run(given: Mapping[str, Any]) -> list[Any]:
        tensors = {name: torch.from_numpy(array) for name, array in given.items()}
        tensors.setdefault(NEIGHBOURS, torch.zeros(0, len(tensors["gap"]), 9, dtype=torch.int64))
        seen["scores"] = PairGraph(head.grid)(**tensors)
        return [seen["scores"].numpy()]

    with torch.inference_mode():
        reader = GRID.reader(settings, ["A", "B"], graphs={"pairs": run})
        reader._score(words.numpy(), np.arange(3), lengths)
        n_gaps = reach or 9
        expected = head.grid(words, torch.from_numpy(lengths), torch.arange(n_gaps))
    assert torch.allclose(seen["scores"], expected, atol=1e-5)
    assert len(expected) == sum(min(n_gaps, length - word) for length in lengths for word in range(length))


def test_graphs_of_an_earlier_version_are_refused() -> None:
    with pytest.raises(DisconerError, match=r"earlier version of disconer. Write them again: `disconer export"):
        GRID.reader(GridSettings(), ["A"], graphs={"grid": lambda given: []})
