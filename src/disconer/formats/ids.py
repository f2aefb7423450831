"""Entity ids: one in a document each."""

from __future__ import annotations

from disconer.errors import BadInput, Where
from disconer.ledger import Ledger
from disconer.types import Entity


def is_new(entity: Entity, seen: set[str], where: Where, ledger: Ledger) -> bool:
    """Whether no earlier entity has this one's id, which is then among those `seen`; a repeated one is a fault."""
    if entity.id is None:
        return True
    if entity.id in seen:
        ledger.fault(
            BadInput(
                "duplicate-id",
                "Two entities of a document have the same id",
                where=Where(where.path, where.line, entity.start, where.document, entity.id),
                fix="Give each its own, or leave all but the first out with --skip-bad.",
            )
        )
        return False
    seen.add(entity.id)
    return True
