"""A memory-efficient set of the document ids seen so far: inputs may have millions of documents."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import count

from disconer.core.ledger import Ledger
from disconer.core.types import Document

ALIKE = "document ids that became alike, made unique"
_FREE = 0
_START_SIZE = 2**10  # slots; a power of two, doubled when half of them are taken


class SeenIds:
    """A set of ids kept as their 64-bit hashes: 24 to 48 bytes per id, half of what a Python set takes.

    Each has a place: the number of the file that it comes from, if there are several.

    Two ids share a hash once in 10^19 pairs. A table with open addressing and linear probing.
    """

    def __init__(self) -> None:
        self._slots = _table(_START_SIZE)
        self._places = _places(_START_SIZE)
        self._n_ids = 0

    def add(self, id: str, place: int = 0) -> bool:
        """Add an id with its place; returns whether it is new. One that was added before keeps its place.

        >>> ids = SeenIds()
        >>> ids.add("a"), ids.add("b"), ids.add("a")
        (True, True, False)
        """
        if 2 * self._n_ids >= len(self._slots):
            self._grow()
        key = _key(id)
        slot = _slot(self._slots, key)
        if self._slots[slot] == key:
            return False
        self._slots[slot], self._places[slot] = key, place
        self._n_ids += 1
        return True

    def place(self, id: str) -> int:
        """The place of an id that was added."""
        return self._places[_slot(self._slots, _key(id))]

    def __contains__(self, id: str) -> bool:
        return self._slots[_slot(self._slots, _key(id))] != _FREE

    def _grow(self) -> None:
        size = 2 * len(self._slots)
        slots, places = _table(size), _places(size)
        for key, place in zip(self._slots, self._places, strict=True):
            if key != _FREE:
                slot = _slot(slots, key)
                slots[slot], places[slot] = key, place
        self._slots, self._places = slots, places


def distinct_id(id: str, seen: SeenIds, ledger: Ledger) -> str:
    """The id, with a number at its end if it was seen before, which is counted; it is added to those seen."""
    if seen.add(id):
        return id
    ledger.repaired(ALIKE)
    return next(name for number in count(2) if seen.add(name := f"{id}-{number}"))


def with_distinct_ids(documents: Iterable[Document], ledger: Ledger) -> Iterator[Document]:
    """Documents in which a format replaced characters: some may now have the same id, and could not be read back."""
    seen = SeenIds()
    for document in documents:
        id = distinct_id(document.id, seen, ledger)
        yield document if id == document.id else document.replace(id=id)


def _table(size: int) -> array[int]:
    return array("Q", bytes(8 * size))


def _places(size: int) -> array[int]:
    return array("I", bytes(4 * size))


def _key(id: str) -> int:
    return hash(id) % 2**64 or 1  # 0 is a free slot's


def _slot(slots: array[int], key: int) -> int:
    """The slot of `key`, or a free one for it."""
    last = len(slots) - 1
    slot = key & last
    while slots[slot] not in (_FREE, key):
        slot = (slot + 1) & last
    return slot
