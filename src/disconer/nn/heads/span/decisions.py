"""The decisions of the span head on what its network scored: which spans are fragments, which pairs may be one entity.

On the CPU and without torch, whatever ran the network: there are few fragments, and many ways to run a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disconer.nn.reader import Bools, Floats, Ints

NONE = 0  # the class of spans that are no fragment; label number n is class n + 1
THRESHOLD = 0.5  # of a label's probability of multilabel spans


@dataclass(frozen=True, slots=True)
class SpanPlaces:
    """Some spans of a batch, sorted by row, start and end: span k covers words [start[k], end[k]) of window row[k]."""

    row: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, chosen: Bools | Ints) -> SpanPlaces:
        return SpanPlaces(self.row[chosen], self.start[chosen], self.end[chosen])

    @property
    def place(self) -> Ints:
        """Row, start and width less one of each.  Shape: (3, K)"""
        return np.stack([self.row, self.start, self.end - self.start - 1])

    def keys(self, n_words: int) -> Ints:
        """One number per span, in their order.  n_words: of the longest window"""
        return (self.row * n_words + self.start) * (n_words + 1) + self.end


@dataclass(frozen=True, slots=True)
class Fragments:
    """Spans that are judged to be fragments. K of them.

    probabilities: of each label.  Shape: (K, labels)
    labelled: which labels each of them has.  Shape: (K, labels)
    """

    spans: SpanPlaces
    probabilities: Floats
    labelled: Bools


def decide(
    spans: SpanPlaces, scores: Floats, margins: Floats, lengths: Sequence[int], *, multilabel: bool
) -> Fragments:
    """Fragments with their labels, from spans with a margin above 0.

    scores: of each span for each class.  Shape: (K, classes)
    margins: of each span, by how much it is a fragment rather than none; see `scorers.margins`.  Shape: (K,)
    lengths: words of each window.
    multilabel: a span may have several labels, each by a threshold, or one.
    """
    kept = at_most_one_per_word(spans.row, margins, lengths)
    spans, scores = spans[kept], scores[kept]
    if multilabel:
        probabilities = (1 / (1 + np.exp(-scores[:, 1:]))).astype(np.float32)
        return Fragments(spans, probabilities, probabilities > THRESHOLD)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    probabilities = (powers[:, 1:] / powers.sum(-1, keepdims=True)).astype(np.float32)
    return Fragments(spans, probabilities, probabilities == probabilities.max(-1, keepdims=True))


def at_most_one_per_word(row: Ints, margin: Floats, lengths: Sequence[int]) -> Bools:
    """Which spans to keep: of each window the best, as many as it has words. An untrained head takes everything
    for a fragment, and pairs of everything are more than memory holds.
    """
    kept = np.ones(len(row), dtype=bool)
    counts = np.bincount(row, minlength=len(lengths))
    for crowded in np.flatnonzero(counts > np.asarray(lengths)).tolist():
        members = np.flatnonzero(row == crowded)
        best_first = members[np.argsort(-margin[members], kind="stable")]
        kept[best_first[lengths[crowded] :]] = False
    return kept


def pairs_within_rows(row: Ints) -> Ints:
    """All pairs of spans of one window, the earlier first, as positions in sorted spans.  Shape: (2, pairs)"""
    here = np.arange(len(row))
    n_later = np.searchsorted(row, row, side="right") - here - 1  # of each span, those of its window after it
    first = np.repeat(here, n_later)
    passed = np.cumsum(n_later) - n_later  # of each span, the pairs of all spans before it
    return np.stack([first, np.arange(len(first)) - passed[first] + first + 1])


def possible_pairs(fragments: Fragments) -> Ints:
    """Pairs that could be of one entity: a word lies between them, and they share a label.  Shape: (2, pairs)"""
    spans, labelled = fragments.spans, fragments.labelled
    first, second = pairs_within_rows(spans.row)
    apart = spans.end[first] < spans.start[second]
    first, second = first[apart], second[apart]
    alike = (labelled[first] & labelled[second]).any(-1)
    return np.stack([first[alike], second[alike]])
