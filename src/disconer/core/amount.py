"""How many documents and entities there are, counted as they pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from disconer.core.types import Document


@dataclass(slots=True)
class Amount:
    """Documents, and entities in them."""

    documents: int = 0
    entities: int = 0

    def counted(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Pass documents through."""
        for document in documents:
            self.add(len(document.entities))
            yield document

    def add(self, n_entities: int) -> None:
        """One more document."""
        self.documents += 1
        self.entities += n_entities

    def __str__(self) -> str:
        """
        >>> str(Amount(1, 1_204))
        '1 document with 1,204 entities'
        """
        return f"{self.documents:,} document{'s' * (self.documents != 1)} with {self.entities:,} " + (
            "entity" if self.entities == 1 else "entities"
        )
