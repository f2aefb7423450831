"""From scores of edges to entities with scores: the best tree of each word and label. No torch here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from disconer.nn.arrays import WordArrays
from disconer.nn.heads.hypergraph.inside import BEST, IMPOSSIBLE, SUM, inside
from disconer.nn.heads.hypergraph.paths import Choose, Edges, Step, shifted, walk
from disconer.nn.heads.kind import Arrays
from disconer.nn.reader import Floats, Ints
from disconer.nn.scores import softplus
from disconer.nn.windows import Found
from disconer.text.alignment import Range

FIRST, SECOND, SCORES = "first", "second", "scores"  # inputs and output of the graph of a hypergraph head
MOST_ENTITIES = 100  # of a word and a label: only an untrained model finds more
SMALLEST = 1e-300  # keeps a logarithm finite


class Pairs(NamedTuple):
    """Pairs of words of a batch within reach of one another, M of them. The batch has W words without padding.

    row, word: of each word, its window, and its place there.  Shape: (W,)
    first, second: of each pair, the words as places in (B, N).  Shape: (M,)
    cell: its place in (W, offsets).  Shape: (M,)
    """

    row: Ints
    word: Ints
    first: Ints
    second: Ints
    cell: Ints
    n_offsets: int


def pairs_of(lengths: Ints, n_words: int, reach: int) -> Pairs:
    """n_words: of a window with its padding.

    >>> pairs = pairs_of(np.array([1, 2]), n_words=2, reach=2)
    >>> pairs.first.tolist(), pairs.second.tolist(), pairs.cell.tolist()
    ([0, 2, 2, 3], [0, 2, 3, 3], [0, 2, 3, 4])
    """
    n_offsets = min(reach, int(lengths.max()))
    row, word = np.nonzero(np.arange(n_words) < lengths[:, None])
    number, offset = np.nonzero(np.arange(n_offsets) < (lengths[row] - word)[:, None])
    first = (row * n_words + word)[number]
    return Pairs(row, word, first, first + offset, number * n_offsets + offset, n_offsets)


class Starts(NamedTuple):
    """Words where entities may start, S of them, and the scores of the edges from there.

    row, first, label: window, word, and number of the label.  Shape: (S,)
    scores:  Shape: (offsets, edges, S)
    """

    row: Ints
    first: Ints
    label: Ints
    scores: Floats


def read_entities(
    starts: Starts, labels: Sequence[str], edges: Edges, *, n_rows: int, near: float | None = None
) -> list[list[Found]]:
    """The entities of each window: those of the best trees, and with `near`, all others of at least this probability.

    The score of an entity is its exact probability: that of all sets of entities that have it.
    """
    rows: list[list[Found]] = [[] for _ in range(n_rows)]
    best, sums = (
        np.stack(inside(starts.scores, edges, algebra)).transpose(2, 0, 1).astype(np.float64) for algebra in (BEST, SUM)
    )  # (S, offsets, edges)
    places = zip(starts.row.tolist(), starts.first.tolist(), starts.label.tolist(), strict=True)
    for (row, first, label), own_best, own_sums in zip(places, best, sums, strict=True):
        tree = Tree(own_best, own_sums, edges)
        found = tree.best() | (tree.likely(near) if near is not None else {})
        for taken, score in found.items():
            rows[row].append(Found(labels[label], shifted(taken, first), math.exp(min(score, 0.0))))
    return rows


Scored = dict[tuple[Range, ...], float]  # the log probabilities of entities, whose ranges are offsets


class Tree:
    """The entities that start at one word, of one label.

    best, sums: what `inside` gives.  Shape: (offsets, edges)
    """

    def __init__(self, best: Floats, sums: Floats, edges: Edges) -> None:
        self._best, self._sums, self._edges = best, sums, edges

    def best(self) -> Scored:
        """Those of the best tree."""
        return self._walk(self._chosen) if self._best[0, self._edges.start] > 0 else {}

    def likely(self, least: float) -> Scored:
        """All that have at least this probability."""
        return self._walk(partial(self._likely, math.log(least)))

    def _walk(self, choose: Choose) -> Scored:
        start = -softplus(-float(self._sums[0, self._edges.start]))
        return dict(islice(walk(self._edges, choose, start), MOST_ENTITIES))

    def _likely(self, lowest: float, options: Sequence[Step], score: float) -> Iterator[tuple[Step, float]]:
        return ((step, more) for step, more in self._probable(options) if score + more >= lowest)

    def _chosen(self, options: Sequence[Step], score: float) -> Iterator[tuple[Step, float]]:
        """All steps that make a tree better; if none does, the one that makes it least worse, as it needs one."""
        probable = list(self._probable(options))
        highest = max(self._best[step] for step, _ in probable)
        return ((step, more) for step, more in probable if self._best[step] >= min(highest, 0))

    def _probable(self, options: Sequence[Step]) -> Iterator[tuple[Step, float]]:
        """The log probability of each step, given that the tree has its node. A node may choose several."""
        steps = [step for step in options if step[0] < len(self._sums)]
        weights = [float(self._sums[step]) for step in steps]
        some = math.log(max(-math.expm1(-sum(map(softplus, weights))), SMALLEST))  # not none of them
        return ((step, -softplus(-weight) - some) for step, weight in zip(steps, weights, strict=True))


def least_start(near: float | None) -> float:
    """Where an entity may start: above which weight of the best tree, or, with `near`, of all trees together."""
    return 0.0 if near is None else math.log(near / (1 - near))


class TreeReader:
    """Makes entities from the scores of a hypergraph head's graph. See `ScoreReader`."""

    def __init__(self, labels: Sequence[str], edges: Edges, *, reach: int, near: float | None = None) -> None:
        self._labels, self._edges, self._reach, self._near = labels, edges, reach, near

    def inputs(self, batch: WordArrays) -> Arrays:
        """See `ScoreReader`."""
        pairs = self._pairs(batch)
        return {FIRST: pairs.first, SECOND: pairs.second}

    def _pairs(self, batch: WordArrays) -> Pairs:
        return pairs_of(batch.lengths, batch.word_mask.shape[1], self._reach)

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """See `ScoreReader`."""
        given, pairs = scores[SCORES], self._pairs(batch)  # (M, edges * labels)
        n_words = len(pairs.word)
        everywhere = np.full((n_words * pairs.n_offsets, given.shape[1]), IMPOSSIBLE, dtype=given.dtype)
        everywhere[pairs.cell] = given
        by_edge = everywhere.reshape(n_words, pairs.n_offsets, len(self._edges), -1).transpose(1, 2, 0, 3)
        algebra = BEST if self._near is None else SUM
        word, label = (inside(by_edge, self._edges, algebra)[0][self._edges.start] > least_start(self._near)).nonzero()
        starts = Starts(pairs.row[word], pairs.word[word], label, by_edge[:, :, word, label])
        return read_entities(starts, self._labels, self._edges, n_rows=len(batch.lengths), near=self._near)
