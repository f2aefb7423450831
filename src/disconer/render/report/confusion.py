"""Which errors happen to which labels and kinds, and which label is taken for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from disconer.core.types import Kind
from disconer.evaluate.mistakes import ErrorClass, Mistake


class Confusion:
    """Counts errors. An error counts once for each label and each kind among its entities."""

    def __init__(self) -> None:
        self.by_label: Counter[tuple[ErrorClass, str]] = Counter()
        self.by_kind: Counter[tuple[ErrorClass, Kind]] = Counter()
        self.labels: Counter[tuple[str, str]] = Counter()  # gold, predicted

    def add(self, found: Iterable[Mistake]) -> None:
        for mistake in found:
            self.by_label.update((mistake.error, label) for label in labels_of(mistake))
            self.by_kind.update((mistake.error, kind) for kind in kinds_of(mistake))
            if mistake.error is ErrorClass.WRONG_TYPE:
                self.labels[mistake.gold[0].label, mistake.predicted[0].label] += 1


def labels_of(mistake: Mistake) -> list[str]:
    return sorted({entity.label for entity in mistake.gold + mistake.predicted})


def kinds_of(mistake: Mistake) -> list[Kind]:
    present = {entity.kind for entity in mistake.gold + mistake.predicted}
    return [kind for kind in Kind if kind in present]
