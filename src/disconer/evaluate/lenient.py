"""Lenient matching: entities that are found in part. All other metrics are strict."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from disconer.core.types import Fragment
from disconer.evaluate.measures import Counts, Key, Unique

_WORD = re.compile(r"\w+|[^\w\s]")

Touching = tuple[Key, set[int]]  # an entity, and the numbers of the words that it touches


class Lenient(NamedTuple):
    """Entities that share a word with an entity of the other side.

    same_label: with one of the same label. any_label: with any.
    """

    same_label: Counts = Counts()
    any_label: Counts = Counts()

    def plus(self, other: Lenient) -> Lenient:
        return Lenient(self.same_label + other.same_label, self.any_label + other.any_label)


def lenient(text: str, gold: Unique, predicted: Unique) -> Lenient:
    """Recall: gold entities that share a word with a prediction. Precision: predictions that share one with gold."""
    if not gold or not predicted:
        nothing = Counts(len(gold), 0, len(predicted), 0)
        return Lenient(nothing, nothing)
    found, right = _both_ways(text, gold, predicted)
    return Lenient(
        Counts(len(gold), sum(same for same, _ in found), len(predicted), sum(same for same, _ in right)),
        Counts(len(gold), sum(some for _, some in found), len(predicted), sum(some for _, some in right)),
    )


def found_in_part(text: str, gold: Unique, predicted: Unique) -> tuple[set[Key], set[Key]]:
    """The gold entities that share a word with a prediction of their label, and the predictions likewise."""
    found, right = _both_ways(text, gold, predicted)
    return (
        {key for key, (same, _) in zip(gold, found, strict=True) if same},
        {key for key, (same, _) in zip(predicted, right, strict=True) if same},
    )


class Words:
    """The words of a text, by number: runs of letters and digits, and every other character but whitespace."""

    def __init__(self, text: str) -> None:
        spans = [word.span() for word in _WORD.finditer(text)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def __len__(self) -> int:
        return len(self._starts)

    def touched(self, fragments: Iterable[Fragment]) -> set[int]:
        """The numbers of the words that share characters with the fragments."""
        return {
            number
            for start, end in fragments
            for number in range(bisect_right(self._ends, start), bisect_left(self._starts, end))
        }


def _both_ways(text: str, gold: Unique, predicted: Unique) -> tuple[list[tuple[bool, bool]], list[tuple[bool, bool]]]:
    words = Words(text)
    ours, theirs = ([(key, words.touched(key[1])) for key in side] for side in (gold, predicted))
    return _sharing(ours, theirs), _sharing(theirs, ours)


def _sharing(entities: Sequence[Touching], others: Sequence[Touching]) -> list[tuple[bool, bool]]:
    """For each entity, whether it shares a word with another one of its label, and with any other one."""
    labels_at: dict[int, set[str]] = {}
    for (label, _), words in others:
        for word in words:
            labels_at.setdefault(word, set()).add(label)
    return [
        (
            any(key[0] in labels_at.get(word, ()) for word in words),
            not words.isdisjoint(labels_at),
        )
        for key, words in entities
    ]
