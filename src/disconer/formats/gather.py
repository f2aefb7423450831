"""The entities of a document as a reader finds them, with what its file says of each beyond label and place."""

from __future__ import annotations

from typing import Any

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Entity

NAMELESS = "fields of entities without an id"


class Gathered:
    """Entities in the order of the file, each id once. `beyond` holds by id what is no part of an entity."""

    def __init__(self, where: Where, ledger: Ledger) -> None:
        self.entities: list[Entity] = []
        self.beyond: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._where, self._ledger = where, ledger

    def add(self, entity: Entity, fields: dict[str, Any]) -> None:
        if entity.id in self._seen:
            self._ledger.fault(
                BadInput(
                    "duplicate-id",
                    "Two entities of a document have the same id",
                    where=Where(self._where.path, self._where.line, entity.start, self._where.document, entity.id),
                    fix="Give each its own, or leave all but the first out with --skip-bad.",
                )
            )
            return
        self.entities.append(entity)
        if entity.id is None:
            self._ledger.lost(NAMELESS, len(fields))
            return
        self._seen.add(entity.id)
        if fields:
            self.beyond[entity.id] = fields
