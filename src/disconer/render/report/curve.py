"""Precision and recall for every threshold on the score, in memory that does not grow with the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from disconer.evaluate.counts import Counts
from disconer.evaluate.measures import Unique

N_STEPS = 1_000  # thresholds that are told apart


class Point(NamedTuple):
    """Precision and recall of the predictions that score at least `threshold`."""

    threshold: float
    precision: float
    recall: float
    f1: float


class Curve:
    """Counts predictions by score; one without a score counts as certain."""

    def __init__(self) -> None:
        self.n_gold = self.n_scored = 0
        self._right = [0] * (N_STEPS + 1)
        self._all = [0] * (N_STEPS + 1)

    def add(self, gold: Unique, predicted: Unique) -> None:
        """Count one more document."""
        self.n_gold += len(gold)
        for key, entity in predicted.items():
            self.n_scored += entity.score is not None
            step = int((1.0 if entity.score is None else entity.score) * N_STEPS)
            self._all[step] += 1
            self._right[step] += key in gold

    def points(self) -> Iterator[Point]:
        """From the highest threshold that any prediction reaches to the lowest."""
        right = predicted = 0
        for step in range(N_STEPS, -1, -1):
            if self._all[step]:
                right += self._right[step]
                predicted += self._all[step]
                counts = Counts(self.n_gold, right, predicted, right)
                yield Point(step / N_STEPS, counts.precision, counts.recall, counts.f1)

    @property
    def best(self) -> Point | None:
        """Where F1 is highest; None without scores."""
        return max(self.points(), key=lambda point: point.f1, default=None) if self.n_scored else None
