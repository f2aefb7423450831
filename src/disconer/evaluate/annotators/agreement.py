"""Agreement of annotators who worked on the same documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np

from disconer.core.errors import DisconerError, Where
from disconer.core.types import Document, Entity, Kind
from disconer.evaluate.annotators.coefficients import Alpha, Kappa, word_categories
from disconer.evaluate.annotators.disputes import Disagreement, Versions, differences
from disconer.evaluate.bootstrap import Estimate, Numbers, estimate
from disconer.evaluate.lenient import found_in_part
from disconer.evaluate.measures import (
    LEVEL,
    RESAMPLES,
    SEED,
    Counts,
    Key,
    Unique,
    entity_kind,
    grouped,
    label_of,
    unique,
)
from disconer.evaluate.pairing import check_same_text

Group = TypeVar("Group", bound=Hashable)
Name = TypeVar("Name", bound=Hashable)
Pair = tuple[str, str]


def _f1(sums: Numbers) -> Numbers:
    """From the columns of `Counts`; NaN if neither side has any."""
    gold, found, predicted, right = np.moveaxis(sums, -1, 0)
    recall, precision = found / np.maximum(gold, 1), right / np.maximum(predicted, 1)
    both = np.where(recall + precision > 0, recall + precision, 1)
    return np.where(gold + predicted > 0, 2 * recall * precision / both, np.nan)


class Tally(Generic[Group]):
    """Counts of the groups of entities, document by document; documents that lack a group count as empty."""

    def __init__(self) -> None:
        self._documents: dict[str, int] = {}  # id → row
        self._rows: dict[Group, dict[str, Counts]] = {}

    def add(self, document: str, counts: Mapping[Group, Counts]) -> None:
        """Count a document; another pair's counts of the same document are added to it."""
        self._documents.setdefault(document, len(self._documents))
        for group, more in counts.items():
            own = self._rows.setdefault(group, {})
            own[document] = own.get(document, Counts()) + more

    def extend(self, other: Tally[Group]) -> None:
        """Add the counts of another pair."""
        for document in other._documents:
            self.add(document, {group: rows[document] for group, rows in other._rows.items() if document in rows})

    def __iter__(self) -> Iterator[Group]:
        return iter(self._rows)

    def total(self, group: Group) -> Counts:
        return sum(self._rows.get(group, {}).values(), Counts())

    def f1(self, group: Group) -> Estimate:
        rows = np.zeros((len(self._documents), 4))
        for document, own in self._rows.get(group, {}).items():
            rows[self._documents[document]] = own.gold, own.found, own.predicted, own.right
        return estimate(rows, _f1)


@dataclass(slots=True)
class Matches:
    """F1 of two annotators, exact (label and all fragments) and by overlap (label and a shared word).

    all: under the key "all".
    """

    all: Tally[str] = field(default_factory=Tally)
    labels: Tally[str] = field(default_factory=Tally)
    kinds: Tally[Kind] = field(default_factory=Tally)

    def add(self, document: str, one: Unique, other: Unique, matched: set[Key], right: set[Key]) -> None:
        def counted(group: Callable[[Entity], Name]) -> dict[Name, Counts]:
            return grouped(one, other, group, matched, right)

        self.all.add(document, counted(_all))
        self.labels.add(document, counted(label_of))
        self.kinds.add(document, counted(entity_kind))

    def extend(self, other: Matches) -> None:
        self.all.extend(other.all)
        self.labels.extend(other.labels)
        self.kinds.extend(other.kinds)


ALL = "all"


def _all(entity: Entity) -> str:
    return ALL


@dataclass(slots=True)
class PairAgreement:
    """Two annotators, on the documents that both have.

    disagreements: by class; of those that only one has, `missed_by` says who lacks them.
    """

    documents: int = 0
    exact: Matches = field(default_factory=Matches)
    overlap: Matches = field(default_factory=Matches)
    kappa: Kappa = field(default_factory=Kappa)
    disagreements: Counter[Disagreement] = field(default_factory=Counter)
    missed_by: Counter[str] = field(default_factory=Counter)
    _words: list[tuple[list[frozenset[str]], list[frozenset[str]]]] = field(default_factory=list)

    def add(self, first: Document, second: Document) -> None:
        one, other = unique(first), unique(second)
        self.documents += 1
        same = one.keys() & other.keys()
        self.exact.add(first.id, one, other, same, same)
        self.overlap.add(first.id, one, other, *found_in_part(first.text, one, other))
        words = word_categories(first), word_categories(second)
        self.kappa.add(*words)
        self._words.append(words)

    def label_kappa(self, label: str) -> Estimate:
        """Kappa of whether a word is of this label, whatever else it is."""
        kappa = Kappa()
        for first, second in self._words:
            kappa.add([label in own for own in first], [label in own for own in second])
        return kappa.estimate()

    def extend(self, other: PairAgreement) -> None:
        """Add another pair, for the figures of all pairs together."""
        self.documents += other.documents
        self.exact.extend(other.exact)
        self.overlap.extend(other.overlap)
        self.disagreements += other.disagreements
        self.missed_by += other.missed_by

    def to_dict(self) -> dict[str, Any]:
        def figures(group: Any, tally: Callable[[Matches], Tally[Any]]) -> dict[str, Any]:
            return {
                name: tally(matches).total(group).to_dict() | {"f1_interval": tally(matches).f1(group).interval}
                for name, matches in (("exact", self.exact), ("overlap", self.overlap))
            }

        labels = sorted(self.exact.labels)
        return {
            "documents": self.documents,
            **figures(ALL, lambda matches: matches.all),
            "kappa": self.kappa.estimate().to_dict() | {"words": self.kappa.words},
            "kinds": {kind.value: figures(kind, lambda matches: matches.kinds) for kind in Kind},
            "labels": {
                label: figures(label, lambda matches: matches.labels) | {"kappa": self.label_kappa(label).to_dict()}
                for label in labels
            },
            "disagreements": {one.value: self.disagreements[one] for one in Disagreement},
            "missed_by": dict(self.missed_by),
        }


class Agreement:
    """The agreement of two or more annotators, document by document.

    pairs: of each two annotators. alpha: of all, over the words of documents that at least two have.
    entities: the number of each annotator's entities. by_annotators: how many documents how many annotators have.
    documents: how many each annotator has.
    """

    def __init__(self, annotators: Iterable[str]) -> None:
        self.annotators = tuple(annotators)
        self.pairs: dict[Pair, PairAgreement] = {pair: PairAgreement() for pair in combinations(self.annotators, 2)}
        self.alpha = Alpha()
        self.documents: Counter[str] = Counter()
        self.entities: Counter[str] = Counter()
        self.by_annotators: Counter[int] = Counter()

    def add(self, versions: Versions) -> None:
        """Count one more document, by the annotators who have it."""
        self.by_annotators[len(versions)] += 1
        for name, document in versions.items():
            self.documents[name] += 1
            self.entities[name] += len(unique(document))
        self.alpha.add([word_categories(document) for document in versions.values()])
        for first, second in combinations(versions, 2):
            self.pairs[first, second].add(versions[first], versions[second])
        for one in differences(versions):
            pair = self.pairs[one.first, one.second]
            pair.disagreements[one.disagreement] += 1
            if one.disagreement is Disagreement.MISSED:
                pair.missed_by[one.second if one.mistake.gold else one.first] += 1

    @property
    def by_all(self) -> int:
        """The documents that every annotator has."""
        return self.by_annotators[len(self.annotators)]

    @property
    def by_some(self) -> int:
        """The documents that at least one annotator lacks."""
        return self.by_annotators.total() - self.by_all

    def together(self) -> PairAgreement:
        """All pairs as one: the sums of their counts. It has no kappa, as alpha is of all."""
        sums = PairAgreement()
        for pair in self.pairs.values():
            sums.extend(pair)
        return sums

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON values, under stable keys."""
        return {
            "annotators": {
                name: {"documents": self.documents[name], "entities": self.entities[name]} for name in self.annotators
            },
            "documents": {
                "all": self.by_annotators.total(),
                "by_all_annotators": self.by_all,
                "by_some_annotators": self.by_some,
                "by_number_of_annotators": {
                    str(number): self.by_annotators[number] for number in sorted(self.by_annotators)
                },
            },
            "alpha": self.alpha.estimate().to_dict(),
            "pairs": [{"annotators": list(names)} | pair.to_dict() for names, pair in self.pairs.items()],
            "intervals": {"level": LEVEL, "resamples": RESAMPLES, "seed": SEED},
        }


def by_document(annotators: Mapping[str, Iterable[Document]]) -> Iterator[Versions]:
    """Each document with its versions, matched by id; all are held in memory."""
    found: dict[str, dict[str, Document]] = {}
    for name, documents in annotators.items():
        for document in documents:
            versions = found.setdefault(document.id, {})
            if name in versions:
                raise DisconerError(
                    f"Two documents of {name} have the same id", where=Where(document=document.id), fix="Rename one."
                )
            for other_name, other in versions.items():
                check_same_text(other, document, f"{other_name} and {name} have different texts of this document")
            versions[name] = document
    if not any(len(versions) > 1 for versions in found.values()):
        raise DisconerError(
            "No two annotators have a document in common",
            got=", ".join(f"{name}: {_ids(found, name)}" for name in annotators),
            fix="Documents are matched by id: the path within the folder without its suffix, or the id in the format.",
        )
    yield from found.values()


def _ids(found: Mapping[str, Versions], name: str) -> str:
    ids = [id for id, versions in found.items() if name in versions]
    return ", ".join(ids[:2]) + (f" and {len(ids) - 2:,} more" if len(ids) > 2 else "") if ids else "nothing"


def agreement(annotators: Mapping[str, Iterable[Document]]) -> Agreement:
    """The agreement of annotators, by name, on documents matched by id."""
    result = Agreement(annotators)
    for versions in by_document(annotators):
        result.add(versions)
    return result
