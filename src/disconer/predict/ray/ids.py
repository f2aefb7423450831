"""The ids of an output that is written block by block: no two documents have the same one, as given or as stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from disconer.core.ledger import Ledger
from disconer.formats.seen_ids import ALIKE, SeenIds


class StoredIds:
    """The ids of all documents so far, and those under which they are stored.

    stored: what a format makes of an id. Most remain what they are; of the others, some may become alike.
    """

    def __init__(self, stored: Callable[[str], str]) -> None:
        self._stored = stored
        self._seen = SeenIds()
        self._replaced: set[str] = set()

    def remember(self, ids: Mapping[str, str]) -> None:
        """The ids of documents that are stored already, and those under which they are."""
        for id, stored in ids.items():
            self._seen.add(id)
            if stored != id:
                self._replaced.add(stored)

    def add(self, id: str, ledger: Ledger) -> str | None:
        """The id under which a document is to be stored; None if another one has the same id."""
        if not self._seen.add(id):
            return None
        stored = self._stored(id)
        if stored == id and stored not in self._replaced:
            return id
        if self._is_taken(stored):
            ledger.repaired(ALIKE)
            stored = next(name for number in count(2) if not self._is_taken(name := f"{stored}-{number}"))
        self._replaced.add(stored)
        return stored

    def _is_taken(self, stored: str) -> bool:
        return stored in self._seen or stored in self._replaced
