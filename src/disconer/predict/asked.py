"""What a call of a recogniser asks for: texts as documents, and which of their entities. No torch here."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from disconer.core.types import Document, Entity


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entities to keep."""

    labels: frozenset[str]
    threshold: float

    def __call__(self, entity: Entity) -> bool:
        return entity.label in self.labels and (entity.score is None or entity.score >= self.threshold)


def as_documents(texts: Iterable[str], ids: Iterable[str] | None = None) -> Iterator[Document]:
    numbered = (f"text-{number}" for number in count(1))
    for id, text in zip(numbered, texts) if ids is None else zip(ids, texts, strict=True):  # noqa: B905
        if not isinstance(text, str):
            raise TypeError(f"a recogniser reads texts (str), got {type(text).__name__}")
        yield Document(id, text)


def remembered(pairs: Iterable[tuple[str, Any]], waiting: deque[Any]) -> Iterator[str]:
    """The texts of pairs; the rest waits for their results."""
    for text, context in pairs:
        waiting.append(context)
        yield text
