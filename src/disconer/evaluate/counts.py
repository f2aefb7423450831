"""What every measure comes down to: four counts, and precision, recall and F1 of them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Counts:
    """How many things there were to find, and how many were found.

    gold: things in the gold annotation; `found`: those of them that were predicted.
    predicted: things predicted; `right`: those of them that are gold.

    `found` and `right` are one number, except by kind: there a gold entity has the kind that it has among
    the gold entities, and a prediction the kind that it has among the predictions.

    A ratio of nothing is 0.0, as in conlleval and scikit-learn, so that every figure is a number; tables
    show a dash where `is_empty`.
    """

    gold: int = 0
    found: int = 0
    predicted: int = 0
    right: int = 0

    @classmethod
    def of(cls, gold: Set[object], predicted: Set[object]) -> Counts:
        """Counts of two sets of things, equal things being the same.

        >>> Counts.of({1, 2, 3}, {3, 4}).precision
        0.5
        """
        shared = len(gold & predicted)
        return cls(len(gold), shared, len(predicted), shared)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.gold + other.gold,
            self.found + other.found,
            self.predicted + other.predicted,
            self.right + other.right,
        )

    @property
    def precision(self) -> float:
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    @property
    def is_empty(self) -> bool:
        """Nothing to find and nothing predicted: there is no figure to speak of."""
        return self.gold == self.predicted == 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"precision": self.precision, "recall": self.recall, "f1": self.f1}
