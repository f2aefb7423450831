"""The gold and predicted entities of documents without their text: what a run keeps of dev and test.

From these lists, metrics by length and by gap and paired comparisons can be computed later, on any machine.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.core.types import Document, Entity, Fragment, Kind
from disconer.evaluate.measures import Counts, Key, grouped, unique
from disconer.text import segment

ALL = "all"
LISTS = "{split}.entities.jsonl"  # in the folder of a run


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """An entity. words: in its fragments; gap: between its first and last word, and not in its fragments."""

    label: str
    fragments: tuple[Fragment, ...]
    kind: Kind
    words: int
    gap: int

    @property
    def key(self) -> Key:
        return self.label, self.fragments

    def to_list(self) -> list[Any]:
        return [self.label, [list(fragment) for fragment in self.fragments], self.kind.value, self.words, self.gap]

    @classmethod
    def from_list(cls, values: Sequence[Any]) -> ListedEntity:
        label, fragments, kind, words, gap = values
        return cls(str(label), tuple(Fragment(*one) for one in fragments), Kind(kind), int(words), int(gap))


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """The unique entities of a document on both sides."""

    id: str
    gold: tuple[ListedEntity, ...]
    predicted: tuple[ListedEntity, ...]

    def by(self, group: Callable[[ListedEntity], str | None]) -> dict[str, Counts]:
        """Counts of each group; entities whose group is None are left out."""
        gold, predicted = ({one.key: one for one in side} for side in (self.gold, self.predicted))
        found = grouped(gold, predicted, group, gold.keys() & predicted.keys())
        return {name: counts for name, counts in found.items() if name is not None}

    def to_dict(self) -> dict[str, Any]:
        gold, predicted = ([one.to_list() for one in side] for side in (self.gold, self.predicted))
        return {"id": self.id, "gold": gold, "predicted": predicted}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ListedDocument:
        gold, predicted = (tuple(map(ListedEntity.from_list, values[side])) for side in ("gold", "predicted"))
        return cls(str(values["id"]), gold, predicted)


def listed_document(gold: Document, predicted: Document) -> ListedDocument:
    """Two documents of one text; words are those of the gold one."""
    tokens = [token for sentence in segment(gold).sentences or () for token in sentence.tokens]
    starts, ends = [token[0] for token in tokens], [token[1] for token in tokens]

    def entity(one: Entity) -> ListedEntity:
        places = [(bisect_right(ends, start), bisect_left(starts, end)) for start, end in one.fragments]
        words = len({word for first, last in places for word in range(first, last)})
        assert one.kind is not None  # it is part of a document
        return ListedEntity(one.label, one.fragments, one.kind, words, places[-1][1] - places[0][0] - words)

    sides = (tuple(map(entity, unique(side).values())) for side in (gold, predicted))
    return ListedDocument(gold.id, *sides)


def dump_lists(documents: Iterable[ListedDocument]) -> bytes:
    return "".join(f"{json.dumps(one.to_dict(), separators=(',', ':'))}\n" for one in documents).encode()


def load_lists(path: Path) -> list[ListedDocument]:
    try:
        return [ListedDocument.from_dict(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    except (ValueError, KeyError, TypeError) as error:
        raise DisconerError(
            "These lists of entities are damaged",
            where=Where(str(path)),
            got=str(error),
            fix="Run the training again with --resume: it writes them again.",
        ) from error


_LENGTHS = ((1, "1"), (2, "2"), (3, "3"), (5, "4–5"), (10, "6–10"))
_GAPS = ((1, "1"), (2, "2"), (4, "3–4"), (9, "5–9"))
LENGTHS = (*(name for _, name in _LENGTHS), "11+")
GAPS = (*(name for _, name in _GAPS), "10+")


def length_group(entity: ListedEntity) -> str:
    """Words of the entity, in ranges."""
    return next((name for most, name in _LENGTHS if entity.words <= most), LENGTHS[-1])


def gap_group(entity: ListedEntity) -> str | None:
    """Words in the gaps of a discontinuous entity, in ranges; None for other entities."""
    if entity.kind is not Kind.DISCONTINUOUS:
        return None
    return next((name for most, name in _GAPS if entity.gap <= most), GAPS[-1])


def totals(documents: Iterable[ListedDocument], group: Callable[[ListedEntity], str | None]) -> dict[str, Counts]:
    """Counts of each group over all documents."""
    total: dict[str, Counts] = {}
    for document in documents:
        for name, counts in document.by(group).items():
            total[name] = total.get(name, Counts()) + counts
    return total


def each_document(documents: Iterable[ListedDocument], kind: Kind | None = None) -> Iterator[Counts]:
    """Counts of each document: of all entities, or of one kind."""
    for document in documents:
        counts = document.by(lambda one: ALL if kind in (None, one.kind) else None)
        yield counts.get(ALL, Counts())
