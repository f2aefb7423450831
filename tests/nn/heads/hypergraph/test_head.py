"""The hypergraph head: targets of windows, loss, prediction, and the same without torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from disconer import Document, Entity, Recognizer
from disconer.export.onnx import export_model
from disconer.nn.arrays import WordArrays
from disconer.nn.devices import WordBatch
from disconer.nn.heads.hypergraph import HYPERGRAPH
from disconer.nn.heads.hypergraph.head import HypergraphHead, hypergraph_graphs
from disconer.nn.heads.hypergraph.kind import HypergraphSettings
from disconer.nn.heads.hypergraph.paths import shifted
from disconer.nn.heads.hypergraph.reading import MOST_ENTITIES, pairs_of
from disconer.nn.reader import Subwords
from disconer.nn.windows import Window, windows
from disconer.text import segment
from disconer.text.alignment import TokenEntity, align
from nn.heads.hypergraph.enumerated import Enumerated
from nn.toy import toy_model

TEXT = "a b c d e f g h i j"  # ten words of one character, two apart
LABELS = ["ADR", "Drug"]
SMALL = {"reach": 4, "hidden": 6, "dropout": 0.0}
WORD_SIZE = 5


def words(*ranges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((2 * first, 2 * end - 1) for first, end in ranges)


def lively_head(**settings: object) -> HypergraphHead:
    torch.manual_seed(5)
    head = HYPERGRAPH.build(HypergraphSettings(**{**SMALL, **settings}), LABELS, word_size=WORD_SIZE).eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(-0.1, 0.5)
    return head


class Sentences:
    """As much of a batch as the head reads."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = list(lengths)


def batch_of(*lengths: int) -> tuple[torch.Tensor, WordBatch]:
    torch.manual_seed(6)
    batch: WordBatch = Sentences(lengths)  # type: ignore[assignment]
    return torch.randn(len(lengths), max(lengths), WORD_SIZE), batch


def cut(*entities: Entity, max_subwords: int = 20) -> tuple[list[Window], list[TokenEntity]]:
    document = segment(Document("d", TEXT, entities))
    [sentence], [aligned] = document.sentences or (), align(document)[0]
    n_words = len(sentence.tokens)
    subwords = Subwords(np.arange(n_words), np.arange(n_words), np.arange(1, n_words + 1))
    return windows(sentence, subwords, max_subwords=max_subwords), aligned


def named(head: HypergraphHead, steps: np.ndarray) -> list[str]:
    return [
        f"{first}+{offset} {head.edges.names[edge][0]} {label}" for offset, edge, first, label in steps[:4].T.tolist()
    ]


def test_targets_are_the_edges_of_trees() -> None:
    """The first two start together. One is too wide, one has another label."""
    entities = [Entity("ADR", words(*one)) for one in ([(0, 2)], [(0, 1), (3, 4)], [(2, 3)], [(5, 6), (9, 10)])]
    [window], aligned = cut(*entities, Entity("Drug", words((2, 3))), Entity("Other", words((7, 8))))
    head = lively_head()
    targets = head.window_targets(window, aligned)
    tree = ["0+0 go_on 0", "0+1 go_on 0", "0+1 end 0", "0+1 leave 0", "0+2 wait 0", "0+3 resume 0", "0+3 end 0"]
    alone = [f"2+0 {edge} {label}" for label in (0, 1) for edge in ("go_on", "end")]
    assert sorted(named(head, targets.steps)) == sorted([*tree, *alone])
    assert targets.taught.all()
    gapped = targets.steps[:, targets.steps[4] == 1]
    assert sorted(named(head, gapped)) == sorted(tree)  # the entity without a gap is of the same tree


def test_what_a_window_cuts_teaches_nothing_there() -> None:
    """Words 4 to 7 are an entity, and windows end after word 5 and start with it."""
    made, entities = cut(Entity("ADR", words((0, 2))), Entity("ADR", words((4, 8))), max_subwords=6)
    head = lively_head()
    first, second = (head.window_targets(window, entities) for window in made)
    assert named(head, first.steps) == ["0+0 go_on 0", "0+1 go_on 0", "0+1 end 0"]
    assert first.taught.tolist() == [True, True, True, True, False, False]
    assert second.steps.shape == (5, 0)
    assert second.taught.tolist() == [made[1].owns(word) for word in range(len(made[1]))]


@torch.no_grad()
@pytest.mark.parametrize("gap_weight", [1.0, 3.0, 0.5])
def test_the_loss_is_that_over_all_sets_of_entities(gap_weight: float) -> None:
    """Two sentences, each the start of the same ten words; of the second, two words are not learned."""
    made, entities = cut(*(Entity("ADR", words(*one)) for one in ([(0, 2)], [(0, 1), (2, 3)], [(1, 2)])))
    head = lively_head(gap_weight=gap_weight)
    sentences, batch = batch_of(4, 3)
    targets = head.window_targets(made[0], entities)
    learned = [np.array([True] * 4), np.array([True, False, False])]
    steps = [targets.steps[:, own[targets.steps[2]]] for own in learned]
    loss = head.loss(sentences, batch, head.batch_targets([*map(type(targets), steps, learned)]))
    given, pairs = head.scores(sentences, batch)
    scores = given.numpy()
    gold = {(0, 0): {((0, 2),), ((0, 1), (2, 3))}, (1, 0): {((0, 1),)}}  # by first word and label; ranges by offset
    expected = 0.0
    for row, first, label in product(range(2), range(4), range(2)):
        if first < len(learned[row]) and learned[row][first]:
            [word] = ((pairs.row == row) & (pairs.word == first)).nonzero()[0]
            own = scores[: min(head.reach, batch.lengths[row] - first), :, word, label].astype(np.float64)
            every = Enumerated(own, head.edges)
            wanted = [ranges in gold.get((first, label), ()) for ranges in every.entities]
            [number] = (every.sets == wanted).all(1).nonzero()[0]
            expected -= np.log(every.probabilities[number]) * (gap_weight if (first, label) == (0, 0) else 1)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_sums_best_sets_and_gradients_are_those_of_all_sets_of_entities() -> None:
    head, lengths = lively_head(), [3, 10, 5]
    sentences, batch = batch_of(*lengths)
    given, pairs = head.scores(sentences, batch)
    given.retain_grad()
    sums = head.log_partition(given)
    sums.sum().backward()
    assert given.grad is not None
    with torch.no_grad():
        rows = head.collect(head.launch(sentences, batch))
    found = {(row, one.label, one.ranges) for row, own in enumerate(rows) for one in own}
    assert found
    expected = set()
    for (word, (row, first)), label in product(enumerate(zip(pairs.row, pairs.word, strict=True)), range(2)):
        n_offsets = min(head.reach, lengths[row] - first)
        every = Enumerated(given.detach()[:n_offsets, :, word, label].double().numpy(), head.edges)
        assert float(sums[word, label].detach()) == pytest.approx(every.log_partition, abs=1e-5)
        best = every.sets[every.scores.argmax()]
        chosen = [ranges for ranges, is_chosen in zip(every.entities, best, strict=True) if is_chosen]
        expected |= {(row, LABELS[label], shifted(ranges, first)) for ranges in chosen}
        counts = np.tensordot(every.probabilities, every.edge_counts, 1)
        np.testing.assert_allclose(given.grad[:n_offsets, :, word, label], counts, atol=1e-5)
        assert (given.grad[n_offsets:, :, word, label] < 1e-30).all()
    assert found == expected


def test_in_bf16_scores_are_about_the_same_and_learn() -> None:
    sentences, batch = batch_of(9, 4)
    plain, _ = lively_head().scores(sentences, batch)
    half, _ = lively_head().bfloat16().scores(sentences.bfloat16(), batch)
    head = lively_head()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed, _ = head.scores(sentences, batch)
        head.log_partition(mixed).sum().backward()
    assert all(torch.isfinite(one.grad).all() for one in head.parameters() if one.grad is not None)
    for scores in (half, mixed):
        assert scores.dtype == torch.float32
        torch.testing.assert_close(scores, plain, rtol=0.1, atol=0.15)


@torch.no_grad()
def test_a_window_finds_the_same_whatever_shares_its_batch() -> None:
    head, lengths = lively_head(reach=6), [7, 1, 9, 4]
    sentences, batch = batch_of(*lengths)
    together = head.collect(head.launch(sentences, batch))
    assert any(len(one.ranges) > 1 for own in together for one in own)
    assert any(len(one.ranges) == 1 for own in together for one in own)
    for row, n_words in enumerate(lengths):
        alone: WordBatch = Sentences([n_words])  # type: ignore[assignment]
        [own] = head.collect(head.launch(sentences[row : row + 1, :n_words], alone))
        assert [one[:2] for one in own] == [one[:2] for one in together[row]]
        assert [one.score for one in own] == pytest.approx([one.score for one in together[row]], abs=1e-5)
        assert all(0 < one.score <= 1 and one.ranges[-1][1] <= n_words for one in own)


@torch.no_grad()
def test_even_if_every_choice_is_good_it_comes_to_an_end() -> None:
    head = lively_head(reach=24)
    head.scorer.output.bias.fill_(20.0)
    sentences, batch = batch_of(24)
    [found] = head.collect(head.launch(sentences, batch))
    assert len(found) <= 24 * len(LABELS) * MOST_ENTITIES
    assert all(np.isfinite(one.score) for one in found)
    assert torch.isfinite(head.log_partition(head.launch(sentences, batch).scores)).all()


def test_a_new_head_finds_next_to_nothing_and_learns_at_once() -> None:
    torch.manual_seed(0)
    head = HYPERGRAPH.build(HypergraphSettings(), LABELS, word_size=WORD_SIZE)
    sentences, batch = batch_of(30)
    scores = head.launch(sentences, batch).scores
    assert 0 < float(head.log_partition(scores).detach().mean()) < 0.2
    head.log_partition(scores).sum().backward()
    assert all(torch.isfinite(one.grad).all() and one.grad.abs().sum() > 0 for one in head.parameters())


@torch.no_grad()
def test_the_graph_gives_the_scores_of_the_head() -> None:
    """The reader finds pairs by itself."""
    head = lively_head()
    lengths = [5, 9, 1]
    sentences, batch = batch_of(*lengths)
    arrays: WordArrays = SimpleNamespace(lengths=np.array(lengths), word_mask=np.zeros((3, 9)))  # type: ignore[assignment]
    reader = HYPERGRAPH.reader(HypergraphSettings(**SMALL), LABELS, graphs={})
    graph, inputs = hypergraph_graphs(head).scores, reader.inputs(arrays)
    assert [*inputs] == [*graph.inputs]
    (found,) = graph.module(sentences, torch.tensor(lengths), *map(torch.from_numpy, inputs.values()))
    expected, _ = head.scores(sentences, batch)
    where = pairs_of(np.array(lengths), 9, head.reach).cell
    by_pair = expected.permute(2, 0, 1, 3).flatten(0, 1).flatten(1).numpy()[where]
    np.testing.assert_allclose(found, by_pair, atol=1e-5)


@pytest.mark.slow
def test_exported_it_finds_the_same(tmp_path: Path) -> None:
    head = {"kind": "hypergraph", **SMALL, "reach": 8}
    model = toy_model(tuple(LABELS), layers=0, encoder={"lstm": None}, head=head)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.network.head.parameters():
            parameter.normal_(-0.1, 0.5, generator=generator)
    texts = ["Pain and stiffness in my knees, after 5 mg aspirin. No fever.", "p", "k " * 90, ""]
    export_model(model, tmp_path)
    before, after = Recognizer(model), Recognizer.from_pretrained(tmp_path)
    found = [[entity for document in ner.pipe(texts) for entity in document.entities] for ner in (before, after)]
    assert any(len(one.fragments) > 1 for one in found[0])
    assert any(len(one.fragments) == 1 for one in found[0])
    assert [one.key for one in found[1]] == [one.key for one in found[0]]
    assert [one.score for one in found[1]] == pytest.approx([one.score for one in found[0]], abs=1e-4)


def test_memory_grows_with_words_reach_and_labels() -> None:
    settings = HypergraphSettings(reach=10)
    assert HYPERGRAPH.cells(20, settings, LABELS) == 2 * HYPERGRAPH.cells(10, settings, LABELS)
    assert HYPERGRAPH.cells(20, settings, LABELS * 20) > HYPERGRAPH.cells(20, settings, LABELS)
    wider = settings.model_copy(update={"reach": 20})
    assert HYPERGRAPH.cells(20, wider, LABELS) == 2 * HYPERGRAPH.cells(20, settings, LABELS)
