"""Percentile bootstrap intervals of F1 over documents."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from disconer.evaluate.measures import Counts

LEVEL = 0.95
RESAMPLES = 1_000
SEED = 0
MAX_UNITS = 1_000  # more documents are resampled in random groups, which bounds the time to half a second


class Interval(NamedTuple):
    low: float
    high: float


def f1_interval(
    documents: Sequence[Counts], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """The interval in which F1 lies in `level` of the resamples of documents, drawn with replacement.

    documents: the counts of each document, where `found` equals `right` (not those of a kind that is relative
        to its neighbours).

    A resample without gold and predicted entities has no F1 and is left out. None if all are, or if there are fewer
    than two documents.
    """
    if len(documents) < 2:
        return None
    chance = random.Random(seed)
    units = _grouped([(2 * counts.right, counts.gold + counts.predicted) for counts in documents], chance)
    agreed = [unit[0] for unit in units]
    possible = [unit[1] for unit in units]
    figures = []
    for _ in range(resamples):
        drawn = chance.choices(range(len(units)), k=len(units))
        total = sum(map(possible.__getitem__, drawn))
        if total:
            figures.append(sum(map(agreed.__getitem__, drawn)) / total)
    if not figures:
        return None
    figures.sort()
    outside = int(len(figures) * (1 - level) / 2)
    return Interval(figures[outside], figures[-1 - outside])


def _grouped(rows: list[tuple[int, int]], chance: random.Random) -> list[tuple[int, int]]:
    """At most MAX_UNITS rows, each the sum of a random group of documents.

    Sums of random groups have the same variance as their documents, so the interval keeps its width.
    """
    if len(rows) <= MAX_UNITS:
        return rows
    chance.shuffle(rows)
    groups = [rows[number::MAX_UNITS] for number in range(MAX_UNITS)]
    return [(sum(row[0] for row in group), sum(row[1] for row in group)) for group in groups]
