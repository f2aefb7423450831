"""Beam search over steps of any kind, for heads that find entities step by step. No torch here.

A path is a sequence of steps in a window. Of each window, the likeliest go on together; with a beam of 1, one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np


class AnyPath(Protocol):
    """row: the window. score: the log probability of all steps."""

    @property
    def row(self) -> int: ...

    @property
    def score(self) -> float: ...


P = TypeVar("P", bound=AnyPath)


class Step(NamedTuple, Generic[P]):
    """A possible next step: its path, its number, its log probability, the position of the path."""

    path: P
    number: int
    score: float
    place: int


def best_steps(
    paths: Sequence[P], scores: Sequence[Sequence[float]], numbers: Sequence[Sequence[int]], beam: int
) -> Iterator[Step[P]]:
    """The likeliest steps of each window. Paths of a window are neighbours.

    scores, numbers: of each path, the log probabilities of its likeliest next steps, and these.
    """
    steps = [
        Step(path, number, score, place)
        for place, path in enumerate(paths)
        for number, score in zip(numbers[place], scores[place], strict=True)
        if score > -np.inf
    ]
    for _, own in groupby(steps, key=lambda step: step.path.row):
        yield from sorted(own, key=lambda step: -(step.path.score + step.score))[:beam]


def best_paths(paths: Iterable[P], beam: int) -> list[P]:
    """The likeliest paths of each window, by window."""
    ordered = sorted(paths, key=lambda path: (path.row, -path.score))
    return [path for _, own in groupby(ordered, key=lambda path: path.row) for path in list(own)[:beam]]
