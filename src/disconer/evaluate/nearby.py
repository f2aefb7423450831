"""Entities by their place in the text, so that a long document is not searched through for each of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from disconer.core.types import Entity


class Nearby:
    """Finds entities that start before the end of a stretch of text and end after its start."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._entities = sorted(entities, key=lambda entity: entity.start)
        self._starts = [entity.start for entity in self._entities]
        self._longest = max((entity.end - entity.start for entity in self._entities), default=0)

    def __call__(self, start: int, end: int) -> list[Entity]:
        """In the order of their starts; a discontinuous one may have only its gap in the stretch."""
        first = bisect_left(self._starts, start - self._longest)
        return [entity for entity in self._entities[first : bisect_left(self._starts, end)] if start < entity.end]
