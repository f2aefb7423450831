"""Counts, from which precision, recall and F1 are computed, and the metrics of one document.

All metrics here are strict: an entity is correct if its label and all its fragments are. Duplicate annotations count
once. Counts of documents are added up (micro averages). Intervals of F1 are from a percentile bootstrap over documents.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from disconer.core.types import Document, Entity, Fragment, Kind
from disconer.text import segment


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of gold and predicted items.

    gold: gold items; `found`: those of them that were predicted.
    predicted: predicted items; `right`: those of them that are gold.

    `found` and `right` are one number, except by kind: there a gold entity has the kind that it has among
    the gold entities, and a prediction the kind that it has among the predictions.

    A ratio with denominator 0 is 0.0, as in conlleval and scikit-learn, so that every metric is a number; tables
    show a dash if `is_empty`.
    """

    gold: int = 0
    found: int = 0
    predicted: int = 0
    right: int = 0

    @classmethod
    def of(cls, gold: Set[object], predicted: Set[object]) -> Counts:
        """Counts of two sets of items.

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
        """Neither gold nor predicted items."""
        return self.gold == self.predicted == 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"precision": self.precision, "recall": self.recall, "f1": self.f1}


Key = tuple[str, tuple[Fragment, ...]]
Unique = Mapping[Key, Entity]

Group = TypeVar("Group", bound=Hashable)
Item = TypeVar("Item")


def unique(document: Document) -> dict[Key, Entity]:
    """The entities of a document by label and fragments; of duplicates, the one with the highest score."""
    found: dict[Key, Entity] = {}
    for entity in document.entities:
        other = found.setdefault(entity.key, entity)
        if (entity.score or 0) > (other.score or 0):
            found[entity.key] = entity
    return found


def entities(gold: Unique, predicted: Unique) -> Counts:
    """Whole entities."""
    return Counts.of(gold.keys(), predicted.keys())


def by_label(gold: Unique, predicted: Unique) -> dict[str, Counts]:
    """Whole entities of each label that occurs on either side."""
    return grouped(gold, predicted, label_of, gold.keys() & predicted.keys())


def by_kind(gold: Unique, predicted: Unique) -> dict[Kind, Counts]:
    """Whole entities of each kind: recall over the gold entities, precision over the predictions of that kind.

    Each side's kinds are those that the entities have among themselves, so one and the same entity may be
    regular in the gold data and overlapped among the predictions; it is right all the same.
    Being discontinuous depends on the entity alone: that kind's counts are those of discontinuous entities
    alone, predicted against gold.
    """
    return grouped(gold, predicted, entity_kind, gold.keys() & predicted.keys())


def label_of(entity: Entity) -> str:
    return entity.label


def entity_kind(entity: Entity) -> Kind:
    if entity.kind is None:
        raise ValueError(f"entity {entity.label} {entity.fragments} is not part of a document")
    return entity.kind


def grouped(
    gold: Mapping[Key, Item],
    predicted: Mapping[Key, Item],
    group: Callable[[Item], Group],
    matched: Set[Key],
    right: Set[Key] | None = None,
) -> dict[Group, Counts]:
    """Counts of each group of items.

    matched: the gold items that count as found. right: the predictions that count as right; `matched` if None.
    """
    right = matched if right is None else right
    in_gold = Counter(group(entity) for entity in gold.values())
    found = Counter(group(entity) for key, entity in gold.items() if key in matched)
    in_predicted = Counter(group(entity) for entity in predicted.values())
    correct = Counter(group(entity) for key, entity in predicted.items() if key in right)
    return {
        name: Counts(in_gold[name], found[name], in_predicted[name], correct[name]) for name in in_gold | in_predicted
    }


def fragments(gold: Unique, predicted: Unique) -> Counts:
    """Unique (label, fragment) of all entities: the paper's entity fragment recognition."""
    return Counts.of(_labelled_fragments(gold), _labelled_fragments(predicted))


def _labelled_fragments(entities: Iterable[Key]) -> set[tuple[str, Fragment]]:
    return {(label, fragment) for label, fragments in entities for fragment in fragments}


def relations(gold: Unique, predicted: Unique) -> Counts:
    """Unique (label, two fragments) that are of one entity: succession."""
    return Counts.of(_successions(gold), _successions(predicted))


def _successions(entities: Iterable[Key]) -> set[tuple[str, tuple[Fragment, ...]]]:
    return {(label, pair) for label, fragments in entities for pair in combinations(fragments, 2)}


def discontinuous_sentences(document: Document, gold: Unique, predicted: Unique) -> tuple[int, Counts]:
    """The sentences that gold discontinuous entities touch: how many, and all entities that touch one of them.

    document: the gold one; it is split into sentences if it has none.
    """
    discontinuous = [fragments for _, fragments in gold if len(fragments) > 1]
    if not discontinuous:
        return 0, Counts()
    place = _Sentences(document)
    chosen = {number for fragments in discontinuous for number in place.touched(fragments)}

    def within(entities: Unique) -> set[Key]:
        return {key for key in entities if not chosen.isdisjoint(place.touched(key[1]))}

    return len(chosen), Counts.of(within(gold), within(predicted))


class _Sentences:
    def __init__(self, document: Document) -> None:
        sentences = segment(document).sentences or ()
        self._starts = [sentence.start for sentence in sentences]
        self._ends = [sentence.end for sentence in sentences]

    def touched(self, fragments: Iterable[Fragment]) -> Iterator[int]:
        """The numbers of the sentences that share text with the fragments."""
        for start, end in fragments:
            number = bisect_right(self._ends, start)
            while number < len(self._starts) and self._starts[number] < end:
                yield number
                number += 1


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
    rng = random.Random(seed)
    units = _in_groups([(2 * counts.right, counts.gold + counts.predicted) for counts in documents], rng)
    agreed = [unit[0] for unit in units]
    possible = [unit[1] for unit in units]
    figures = []
    for _ in range(resamples):
        drawn = rng.choices(range(len(units)), k=len(units))
        total = sum(map(possible.__getitem__, drawn))
        if total:
            figures.append(sum(map(agreed.__getitem__, drawn)) / total)
    if not figures:
        return None
    figures.sort()
    outside = int(len(figures) * (1 - level) / 2)
    return Interval(figures[outside], figures[-1 - outside])


def _in_groups(rows: list[tuple[int, int]], rng: random.Random) -> list[tuple[int, int]]:
    """At most MAX_UNITS rows, each the sum of a random group of documents.

    Sums of random groups have the same variance as their documents, so the interval keeps its width.
    """
    if len(rows) <= MAX_UNITS:
        return rows
    rng.shuffle(rows)
    groups = [rows[number::MAX_UNITS] for number in range(MAX_UNITS)]
    return [(sum(row[0] for row in group), sum(row[1] for row in group)) for group in groups]
