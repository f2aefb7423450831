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
from nn.heads.hypergraph.enumerated import Enumerated

sizes = pytest.mark.parametrize(
    ("edges", "n_words"),
    [
        pytest.param(Edges(fragments, memory), n_words, id=f"{fragments}-{memory}-{n_words}")
        for fragments, memory, n_words in [(1, 1, 1), (1, 2, 3), (2, 1, 4), (2, 2, 5), (3, 1, 5), (3, 2, 5), (3, 3, 5)]
    ],
)


def random_scores(edges: Edges, n_words: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(-0.3, 1.5, (n_words, len(edges)))


@sizes
def test_sums_are_those_over_all_sets_of_entities(edges: Edges, n_words: int) -> None:
    scores = random_scores(edges, n_words)
    start = inside(scores, edges, SUM)[0][edges.start]
    assert np.logaddexp(0, start) == pytest.approx(Enumerated(scores, edges).log_partition)


@sizes
def test_gradients_are_how_often_trees_have_each_edge(edges: Edges, n_words: int) -> None:
    scores = torch.tensor(random_scores(edges, n_words), requires_grad=True)
    start = inside(scores, edges, in_torch.SUM)[0][edges.start]
    torch.nn.functional.softplus(start).backward()
    every = Enumerated(scores.detach().numpy(), edges)
    assert scores.grad is not None
    np.testing.assert_allclose(scores.grad.numpy(), np.tensordot(every.probabilities, every.edge_counts, 1), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@sizes
def test_the_best_tree_is_the_best_set_and_scores_are_probabilities(edges: Edges, n_words: int, seed: int) -> None:
    scores = random_scores(edges, n_words, seed)
    scores[0, edges.start] += 3  # so that there is one
    every = Enumerated(scores, edges)
    assert max(0, inside(scores, edges, BEST)[0][edges.start]) == pytest.approx(every.scores.max())
    best = every.sets[every.scores.argmax()]
    probabilities = every.probabilities @ every.sets  # (entities,)
    zero = np.zeros(1, dtype=np.int64)
    starts = Starts(zero, zero, zero, scores[..., None])
    [found] = read_entities(starts, ["A"], edges, n_rows=1)
    assert {one.ranges: one.score for one in found} == {
        ranges: pytest.approx(probability)
        for ranges, chosen, probability in zip(every.entities, best, probabilities, strict=True)
        if chosen
    }
    [near] = read_entities(starts, ["A"], edges, n_rows=1, near=0.1)
    likely = {ranges for ranges, one in zip(every.entities, probabilities, strict=True) if one >= 0.1}
    assert {one.ranges for one in near} == likely | {one.ranges for one in found}


def test_words_beyond_the_end_change_nothing() -> None:
    edges = Edges(3, 2)
    scores = random_scores(edges, 4)
    longer = np.concatenate([scores, np.full((3, scores.shape[1]), IMPOSSIBLE)])
    for algebra in (SUM, BEST):
        start, expected = (inside(given, edges, algebra)[0][edges.start] for given in (longer, scores))
        assert start == pytest.approx(expected)


def test_starts_are_independent_and_computed_together() -> None:
    edges = Edges(2, 2)
    scores = np.stack([random_scores(edges, 4, seed) for seed in range(6)], -1).reshape(4, -1, 2, 3)
    together = inside(scores, edges, SUM)[0]
    for row, column in product(range(2), range(3)):
        np.testing.assert_allclose(together[:, row, column], inside(scores[..., row, column], edges, SUM)[0])
