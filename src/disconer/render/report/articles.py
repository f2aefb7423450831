"""The articles of a page, each a sentence, kept compressed.

The page shows a few at a time. They are stored in it as JSON, which the browser parses only when needed: a hundred
thousand sentences as elements would take minutes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import BinaryIO

from disconer.core.types import Entity, Kind

CHUNK = 100  # articles that are read together

Fact = tuple[int, Iterable[Entity]]  # the number of a class of errors, and the entities concerned
_KINDS = {kind: number for number, kind in enumerate(Kind)}


class Articles:
    """Collects articles, each with the values of the page's filters, and writes them into a page."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._waiting: list[str] = []
        self._labels: dict[str, int] = {}
        self._facts: list[str] = []

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, html: str, facts: Iterable[Fact]) -> None:
        self._waiting.append(html)
        self._facts.append(_json([[error, *self._numbers(entities)] for error, entities in facts]))
        if len(self._waiting) == CHUNK:
            self._flush()

    def labels(self) -> list[str]:
        """All labels with an error; their positions are their numbers in the facts."""
        return list(self._labels)

    def write(self, stream: BinaryIO) -> None:
        """Write the elements that the page's script reads."""
        self._flush()
        facts = ",".join(self._facts)
        stream.write(f'<script type="application/json" id="facts">[{facts}]</script>\n'.encode())
        for chunk in self._chunks:
            stream.write(zlib.decompress(chunk))

    def _flush(self) -> None:
        if self._waiting:
            chunk = f'<script type="application/json" class="chunk">{_json(self._waiting)}</script>\n'
            self._chunks.append(zlib.compress(chunk.encode(), level=1))
            self._waiting.clear()

    def _numbers(self, entities: Iterable[Entity]) -> tuple[list[int], list[int]]:
        """The numbers of the labels and of the kinds."""
        entities = tuple(entities)
        labels = sorted({entity.label for entity in entities})
        kinds = {entity.kind for entity in entities}
        return (
            [self._labels.setdefault(label, len(self._labels)) for label in labels],
            [number for kind, number in _KINDS.items() if kind in kinds],
        )


def _json(value: object) -> str:
    """JSON that is safe inside an element: it contains no `<`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
