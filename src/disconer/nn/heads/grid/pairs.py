"""Pairs of words of a batch: how many there are, where they are, and which are around each. No torch here."""

from __future__ import annotations

import numpy as np

from disconer.nn.reader import Ints

NEIGHBOURS = "neighbours"  # an input of graphs that score pairs
WIDEST_GAP = 255  # wider ones are scored as if they were no wider
# Windows of a batch are scored with others of like length: a grid is filled up to the longest of those in it.
LENGTHS = (8, 16, 32, 64, 128, 256)


def length_groups(lengths: Ints) -> list[Ints]:
    """The windows of a batch by number, those of like length together."""
    if len(lengths) == 1:
        return [np.zeros(1, np.int64)]
    group = np.searchsorted(LENGTHS, lengths)
    return [np.flatnonzero(group == number) for number in np.unique(group)]


def sizes(lengths: Ints, reach: int | None) -> tuple[int, int]:
    """Words and gaps of the grid of some windows."""
    n_words = int(lengths.max())
    return n_words, min(reach or n_words, n_words)


def n_pairs(lengths: Ints, n_gaps: int) -> int:
    """How many pairs of words a grid of windows has.

    >>> n_pairs(np.array([1, 3]), 2)
    6
    """
    shorter = np.minimum(lengths, n_gaps)  # the last words of a window have fewer words after them than there are gaps
    return int((lengths * shorter - shorter * (shorter - 1) // 2).sum())


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
