"""The dynamic programme against all sets of entities of small sentences, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from disconer.nn.heads.hypergraph import head as in_torch
from disconer.nn.heads.hypergraph.inside import BEST, IMPOSSIBLE, SUM, inside
from disconer.nn.heads.hypergraph.paths import Edges
from disconer.nn.heads.hypergraph.reading import Starts, read_entities
from disconer.text.alignment import Range, merge_adjacent

Ranges = tuple[Range, ...]
SIZES = [(1, 1), (1, 3), (2, 4), (2, 5), (3, 5)]  # fragments, words


def all_entities(fragments: int, n_words: int) -> list[Ranges]:
    """All that start at the first word."""
    found = []
    for rest in product([False, True], repeat=n_words - 1):
        ranges = merge_adjacent((word, word + 1) for word, taken in enumerate([True, *rest]) if taken)
        if len(ranges) <= fragments:
            found.append(ranges)
    return found


class Enumerated:
    """Every set of entities of one word and label, and its score: that of the edges of its tree, each once.

    sets: which entities each has.  Shape: (sets, entities)
    totals:  Shape: (sets,)
    edge_counts: how often its tree has each edge.  Shape: (sets, offsets, edges)
    """

    def __init__(self, scores: np.ndarray, fragments: int) -> None:
        edges = Edges(fragments)
        self.entities = all_entities(fragments, len(scores))
        paths = [edges.path(ranges) for ranges in self.entities]
        branches = sorted({path[:end] for path in paths for end in range(1, len(path) + 1)})
        has_branch = np.array([[path[: len(branch)] == branch for branch in branches] for path in paths])
        numbers = np.arange(2 ** len(paths))
        self.sets = (numbers[:, None] >> np.arange(len(paths)) & 1).astype(bool)
        trees = self.sets.astype(np.int64) @ has_branch > 0  # (sets, branches)
        on_edge = np.zeros((len(branches), *scores.shape), dtype=np.int64)
        for number, branch in enumerate(branches):
            on_edge[number, branch[-1][0], branch[-1][1]] = 1
        self.edge_counts = np.tensordot(trees.astype(np.int64), on_edge, 1)
        self.totals = (self.edge_counts * scores).sum((1, 2))
        self.probabilities = np.exp(self.totals - self.totals.max())
        self.probabilities /= self.probabilities.sum()

    @property
    def log_partition(self) -> float:
        return float(np.logaddexp.reduce(self.totals))


def random_scores(fragments: int, n_words: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(-0.3, 1.5, (n_words, len(Edges(fragments))))


@pytest.mark.parametrize(("fragments", "n_words"), SIZES)
def test_sums_are_those_over_all_sets_of_entities(fragments: int, n_words: int) -> None:
    scores = random_scores(fragments, n_words)
    start = inside(scores, fragments, SUM)[0][Edges(fragments).go_on(0)]
    assert np.logaddexp(0, start) == pytest.approx(Enumerated(scores, fragments).log_partition)


@pytest.mark.parametrize(("fragments", "n_words"), SIZES)
def test_gradients_are_how_often_trees_have_each_edge(fragments: int, n_words: int) -> None:
    scores = torch.tensor(random_scores(fragments, n_words), requires_grad=True)
    start = inside(scores, fragments, in_torch.SUM)[0][Edges(fragments).go_on(0)]
    torch.nn.functional.softplus(start).backward()
    every = Enumerated(scores.detach().numpy(), fragments)
    assert scores.grad is not None
    np.testing.assert_allclose(scores.grad.numpy(), np.tensordot(every.probabilities, every.edge_counts, 1), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("fragments", "n_words"), SIZES)
def test_the_best_tree_is_the_best_set_and_scores_are_probabilities(fragments: int, n_words: int, seed: int) -> None:
    scores = random_scores(fragments, n_words, seed)
    scores[0, Edges(fragments).go_on(0)] += 3  # so that there is one
    every = Enumerated(scores, fragments)
    start = inside(scores, fragments, BEST)[0][Edges(fragments).go_on(0)]
    assert max(0, start) == pytest.approx(every.totals.max())
    best = every.sets[every.totals.argmax()]
    probabilities = every.probabilities @ every.sets  # (entities,)
    zero = np.zeros(1, dtype=np.int64)
    starts = Starts(zero, zero, zero, scores[..., None])
    [found] = read_entities(starts, ["A"], Edges(fragments), n_rows=1)
    assert {one.ranges: one.score for one in found} == {
        ranges: pytest.approx(probability)
        for ranges, chosen, probability in zip(every.entities, best, probabilities, strict=True)
        if chosen
    }
    [near] = read_entities(starts, ["A"], Edges(fragments), n_rows=1, near=0.1)
    likely = {ranges for ranges, one in zip(every.entities, probabilities, strict=True) if one >= 0.1}
    assert {one.ranges for one in near} == likely | {one.ranges for one in found}


def test_words_beyond_the_end_change_nothing() -> None:
    scores = random_scores(3, 4)
    longer = np.concatenate([scores, np.full((3, scores.shape[1]), IMPOSSIBLE)])
    for algebra in (SUM, BEST):
        np.testing.assert_allclose(inside(longer, 3, algebra)[0], inside(scores, 3, algebra)[0])


def test_starts_are_independent_and_computed_together() -> None:
    scores = np.stack([random_scores(2, 4, seed) for seed in range(6)], -1).reshape(4, -1, 2, 3)
    together = inside(scores, 2, SUM)[0]
    for row, column in product(range(2), range(3)):
        np.testing.assert_allclose(together[:, row, column], inside(scores[..., row, column], 2, SUM)[0])
