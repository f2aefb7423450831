"""From the words of an exported network to entities: runs the graph that scores pairs, and reads it. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from disconer.core.errors import DisconerError
from disconer.nn.arrays import WordArrays, length_groups
from disconer.nn.heads.grid.reading import (
    AFTER_LABELS,
    Decoding,
    Envelopes,
    Steps,
    read_entities,
    read_window,
)
from disconer.nn.heads.kind import Arrays, RunGraph
from disconer.nn.reader import Floats, Ints
from disconer.nn.scores import sigmoid
from disconer.nn.windows import Found

P = TypeVar("P", "Envelopes", "Steps")

WORDS, PAIR_GRAPH = "words", "pairs"  # what the graph of the network gives; the graph that scores pairs of words
NEIGHBOURS = "neighbours"  # an input of that graph
WIDEST_GAP = 255  # wider gaps are scored as if they had this width
KEPT_WORDS = 32  # of a window: all pairs of all lengths up to this take 2 MB
SURE, ROUNDING = 0.999, 1e-5  # a probability; more than the error of one up to it


def sizes(lengths: Ints, reach: int | None) -> tuple[int, int]:
    """Words and gaps of the grid of some windows."""
    n_words = int(lengths.max())
    return n_words, min(reach or n_words, n_words)


def places(lengths: Ints, n_words: int, n_gaps: int) -> tuple[Ints, Ints, Ints]:
    """Row, first word and gap of the pairs of a grid, in the order of their scores.  Shape: (pairs,) each"""
    second = np.arange(n_words)[:, None] + np.arange(n_gaps)
    row, word, gap = (second < lengths[:, None, None]).nonzero()
    return row, word, gap


def neighbours(row: Ints, first: Ints, gap: Ints, dilations: Ints) -> Ints:
    """The pairs that the convolutions see of each pair, counted from 1; 0 stands for those that do not exist.

    Shape: (pairs,) three times, (convolutions,) -> (convolutions, pairs, 9)
    """
    # Beyond all pairs there is nothing, however far away: what a model's files say must not decide about memory.
    dilations = np.minimum(dilations, max(int(first.max()), int(gap.max())) + 1)
    margin = int(dilations.max())
    height, width = int(first.max()) + 1 + 2 * margin, int(gap.max()) + 1 + 2 * margin
    place = (row * height + first + margin) * width + gap + margin  # of each pair, in a grid with margins
    numbers = np.zeros((int(row.max()) + 1) * height * width, np.int64)
    numbers[place] = np.arange(1, len(place) + 1)
    steps = (np.array([-1, 0, 1])[:, None] * width + np.array([-1, 0, 1])).ravel()  # (9,)
    seen: Ints = numbers[place[:, None] + (dilations[:, None] * steps)[:, None]]
    return seen


class Pairs(NamedTuple):
    """The pairs of words in some windows.

    own: the window.  first: its word.  gap: words from it to the second.  Shape: (pairs,)
    inputs: of the graph, beside the words.
    ends: of a single window, first and second word of each pair.
    """

    own: Ints
    first: Ints
    gap: Ints
    inputs: Arrays
    ends: list[tuple[int, int]]


class GridReader:
    """Makes entities from the words of an exported network. See `ScoreReader`.

    graph: scores pairs of words. dilations: of its convolutions.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        graph: RunGraph,
        reach: int | None,
        dilations: Sequence[int],
        threshold: float,
        decoding: Decoding,
    ) -> None:
        self._labels, self._graph = tuple(labels), graph
        self._reach, self._threshold, self._decoding = reach, threshold, decoding
        self._dilations = np.array(dilations, np.int64)
        self._least = least_score(threshold)
        self._kept: dict[int, Pairs] = {}  # by the words of a window

    def inputs(self, batch: WordArrays) -> Arrays:
        """See `ScoreReader`: nothing."""
        return {}

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """See `ScoreReader`."""
        if len(batch.lengths) == 1:
            return [self._read_one(scores[WORDS], batch.lengths)]
        groups = [self._score(scores[WORDS], rows, batch.lengths[rows]) for rows in length_groups(batch.lengths)]
        envelopes, steps = zip(*groups, strict=True)
        return read_entities(
            _joined(envelopes),
            _joined(steps),
            self._labels,
            n_rows=len(batch.lengths),
            threshold=self._threshold,
            decoding=self._decoding,
        )

    def _read_one(self, words: Floats, lengths: Ints) -> list[Found]:
        """The entities of a single window. Few of its pairs are likely, so lists take less time."""
        pairs = self._pairs(lengths)
        scores = self._scores(words, pairs)
        cell, number = (scores[:, : 1 - AFTER_LABELS] > self._least).nonzero()
        likely = sigmoid(scores[cell])  # (likely, scores)
        ends = [pairs.ends[place] for place in cell.tolist()]
        return read_window(
            zip(ends, number.tolist(), likely.tolist(), strict=True),
            self._labels,
            threshold=self._threshold,
            decoding=self._decoding,
        )

    def _score(self, words: Floats, rows: Ints, lengths: Ints) -> tuple[Envelopes, Steps]:
        """What may be an entity, and a link, in windows of like length."""
        pairs = self._pairs(lengths)
        n_words = int(lengths.max())
        whole = len(rows) == len(words) and n_words == words.shape[1]
        scores = self._scores(words if whole else words[rows, :n_words], pairs)
        own, first, last = rows[pairs.own], pairs.first, pairs.first + pairs.gap
        cell = np.flatnonzero((scores[:, : 1 - AFTER_LABELS] > self._least).any(axis=1))  # most pairs are nothing
        own, first, last = own[cell], first[cell], last[cell]
        likely = sigmoid(scores[cell])
        labelled, after = likely[:, :-AFTER_LABELS], likely[:, -AFTER_LABELS:]
        place, label = (labelled > self._threshold).nonzero()
        probability = labelled[place, label]
        envelopes = Envelopes(
            own[place], first[place], last[place], label, probability, after[place, 1], after[place, 2]
        )
        step = np.flatnonzero((after[:, 0] > self._threshold) & (last > first))
        return envelopes, Steps(own[step], first[step], last[step], after[step, 0])

    def _scores(self, words: Floats, pairs: Pairs) -> Floats:
        """Shape: (pairs, labels + AFTER_LABELS)"""
        (scores,) = self._graph({WORDS: words, **pairs.inputs})
        if scores.shape[1] != len(self._labels) + AFTER_LABELS:
            raise DisconerError(
                "The labels of this model are not those of its network",
                got=f"{len(self._labels)} labels",
                expected=f"{scores.shape[1] - AFTER_LABELS}",
                fix="Copy the complete model again.",
            )
        return scores

    def _pairs(self, lengths: Ints) -> Pairs:
        """The pairs of words of some windows. Those of a single short one are cached: it is a text by itself, and the
        next text may have the same length.
        """
        if len(lengths) > 1 or lengths[0] > KEPT_WORDS:
            return self._new_pairs(lengths)
        n_words = int(lengths[0])
        if n_words not in self._kept:
            self._kept[n_words] = self._new_pairs(lengths)
        return self._kept[n_words]

    def _new_pairs(self, lengths: Ints) -> Pairs:
        n_words, n_gaps = sizes(lengths, self._reach)
        own, first, gap = places(lengths, n_words, n_gaps)
        word = own * n_words + first
        inputs = {
            "first": word,
            "second": word + gap,
            "cell": word * n_words + first + gap,
            "gap": np.minimum(gap, WIDEST_GAP),
        }
        if len(self._dilations):
            inputs[NEIGHBOURS] = neighbours(own, first, gap, self._dilations)
        ends = list(zip(first.tolist(), (first + gap).tolist(), strict=True)) if len(lengths) == 1 else []
        return Pairs(own, first, gap, inputs, ends)


def least_score(threshold: float) -> float:
    """A score below those of all probabilities above a threshold, however they are rounded.

    >>> sigmoid(np.float32([least_score(0.5), least_score(0.9999999)])).round(3).tolist()
    [0.5, 0.9990000128746033]
    """
    lower = min(threshold, SURE) - ROUNDING
    return math.log(lower / (1 - lower)) if lower > 0 else -math.inf


def _joined(parts: Sequence[P]) -> P:
    """Envelopes or steps of several groups of windows, one after another."""
    if len(parts) == 1:
        return parts[0]
    kind = type(parts[0])
    return kind(*(np.concatenate([getattr(part, name) for part in parts]) for name in kind.__slots__))
