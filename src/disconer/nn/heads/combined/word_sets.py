"""What an action asks the span head about: sets of words, as fragments and pairs of them. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from disconer.nn.heads.transition.actions import JOINING, Span, State, ranges_of
from disconer.nn.reader import Ints

ASKED = ("top", "second", "third", "joined")
NOTHING = 0  # the number of no set


def asked_about(state: State, n_words: int) -> tuple[Span, ...]:
    """The spans on top of the stack, and the one that joining the first two would make; 0 in place of none.

    >>> [bin(span) for span in asked_about(State(3, (0b1, 0b100)), 3)]
    ['0b100', '0b1', '0b0', '0b101']
    """
    top, second, third = (*state.stack[:-4:-1], 0, 0, 0)[:3]
    return top, second, third, top | second if state.valid(n_words)[JOINING] else 0


class WordSets(NamedTuple):
    """Different sets of words, numbered from 1.

    asked: of each action, the numbers of the sets that it asks about.  Shape: (T, 4)
    fragments: row, start, width less one and set of each fragment.  Shape: (4, K)
    pairs: two fragments of a set, by position, one after the other, and the set.  Shape: (3, P)
    n_sets: how many there are.
    """

    asked: Ints
    fragments: Ints
    pairs: Ints
    n_sets: int


def word_sets(rows: Sequence[int], asked: Sequence[Sequence[Span]]) -> WordSets:
    """rows: the window of each action.  asked: what each asks about."""
    numbers: dict[tuple[int, Span], int] = {(row, 0): NOTHING for row in rows}
    fragments: list[tuple[int, int, int, int]] = []
    pairs: list[tuple[int, int, int]] = []
    n_sets = 0
    for row, span in ((row, span) for row, own in zip(rows, asked, strict=True) for span in own):
        if (row, span) not in numbers:
            n_sets += 1
            numbers[row, span] = n_sets
            first = len(fragments)
            fragments += [(row, start, end - start - 1, n_sets) for start, end in ranges_of(span)]
            pairs += [(one, other, n_sets) for one, other in pairwise(range(first, len(fragments)))]
    named = [[numbers[row, span] for span in own] for row, own in zip(rows, asked, strict=True)]
    return WordSets(
        np.array(named, dtype=np.int64).reshape(-1, len(ASKED)),
        np.array(fragments, dtype=np.int64).reshape(-1, 4).T,
        np.array(pairs, dtype=np.int64).reshape(-1, 3).T,
        n_sets,
    )


def together(windows: Sequence[WordSets]) -> WordSets:
    """The sets of windows, each a row; what their actions ask about is padded with nothing.  Shape: (B, T, 4)"""
    sets = np.cumsum([0, *(one.n_sets for one in windows)])
    places = np.cumsum([0, *(one.fragments.shape[1] for one in windows)])
    asked = np.full((len(windows), max(len(one.asked) for one in windows), len(ASKED)), NOTHING)
    for row, one in enumerate(windows):
        asked[row, : len(one.asked)] = np.where(one.asked == NOTHING, NOTHING, one.asked + sets[row])
    fragments = [one.fragments + np.array([[row], [0], [0], [sets[row]]]) for row, one in enumerate(windows)]
    pairs = [one.pairs + np.array([[places[row]], [places[row]], [sets[row]]]) for row, one in enumerate(windows)]
    return WordSets(asked, np.concatenate(fragments, 1), np.concatenate(pairs, 1), int(sets[-1]))
