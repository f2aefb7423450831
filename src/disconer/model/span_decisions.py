"""The decisions of the span head on what its network scored: which spans are fragments, which pairs may be one entity.

On the CPU and without torch, whatever ran the network: there are few fragments, and many ways to run a network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disconer.config import SpanHeadConfig
from disconer.model.reader import Ints

NONE = 0  # the class of spans that are no fragment; label number n is class n + 1

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


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

    def keys(self, n_words: int) -> Ints:
        """One number a span, in their order.  n_words: of the longest window"""
        return (self.row * n_words + self.start) * (n_words + 1) + self.end


@dataclass(frozen=True, slots=True)
class Fragments:
    """Spans that may be fragments. K of them.

    chances: the probability of being a fragment of each label.  Shape: (K, labels)
    possible: which labels each of them has, as a part of an entity or as a whole.  Shape: (K, labels)
    whole_chances: the probability of being an entity of each label by itself.  Shape: (K, labels)
    whole: which labels each of them has as an entity by itself.  Shape: (K, labels)
    """

    spans: SpanPlaces
    chances: Floats
    possible: Bools
    whole_chances: Floats
    whole: Bools


@dataclass(frozen=True, slots=True)
class Rules:
    """How the span head decides.

    several: a span may have several labels, each against none, or one (softmax, as in the paper).
    parts: there is a class for each label as a part beside that as a whole. What is whole is an entity, whether or
        not it is a part of others, too. Without it, as in the paper, a fragment is one if it is part of no other.
    part_chance: probability against none from which on a span may be a part; 0.5 as in the paper.
    """

    several: bool = False
    parts: bool = False
    part_chance: float = 0.5

    @classmethod
    def from_config(cls, config: SpanHeadConfig) -> Rules:
        return cls(config.labels == "many", config.parts, config.part_chance)

    @property
    def least_margin(self) -> float:
        """The margin that a span must be above to be looked at."""
        return math.log(self.part_chance / (1 - self.part_chance))

    def margins(self, scores: Floats) -> Floats:
        """By how much the best label of a span beats its being none, in log-odds.  Shape: (K, classes) -> (K,)"""
        best: Floats = scores[:, 1:].max(-1)
        return best if self.several else best - scores[:, NONE]

    def decide(self, spans: SpanPlaces, scores: Floats, lengths: Sequence[int]) -> Fragments:
        """Fragments with their labels, from spans whose margin is above the least.

        scores: of each span for each class.  Shape: (K, classes)
        lengths: words of each window.
        """
        kept = at_most_one_a_word(spans.row, self.margins(scores), lengths)
        spans, scores = spans[kept], scores[kept]
        chances = (_sigmoid if self.several else _softmax)(scores)[:, 1:]
        n_labels = chances.shape[1] // (1 + self.parts)
        whole, part = chances[:, :n_labels], chances[:, n_labels:]
        either = whole if not self.parts else np.maximum(whole, part) if self.several else whole + part
        if self.several:
            possible, stands = _log_odds(either) > self.least_margin, whole > 0.5
        else:
            possible = either == either.max(-1, keepdims=True)
            likeliest = scores.max(-1, keepdims=True)
            stands = (scores[:, 1 : 1 + n_labels] == likeliest) & (likeliest > scores[:, :1])
        return Fragments(spans, either, possible, whole, stands)


def _sigmoid(scores: Floats) -> Floats:
    return (1 / (1 + np.exp(-scores))).astype(np.float32)


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    shares: Floats = (powers / powers.sum(-1, keepdims=True)).astype(np.float32)
    return shares


def _log_odds(chances: Floats) -> Floats:
    edge = np.finfo(np.float32).tiny
    odds: Floats = np.log(np.maximum(chances, edge)) - np.log(np.maximum(1 - chances, edge))
    return odds


def at_most_one_a_word(row: Ints, margin: Floats, lengths: Sequence[int]) -> Bools:
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
    spans, possible = fragments.spans, fragments.possible
    first, second = pairs_within_rows(spans.row)
    apart = spans.end[first] < spans.start[second]
    first, second = first[apart], second[apart]
    alike = (possible[first] & possible[second]).any(-1)
    return np.stack([first[alike], second[alike]])
