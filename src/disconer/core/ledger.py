"""The ledger of reading and writing: what was invalid, normalised or lost; and how much passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass

from disconer.core.counting import counted
from disconer.core.errors import BadInput
from disconer.core.types import Document

EXAMPLES = 20  # errors kept in full, to bound memory


class Ledger:
    """Counts errors, repairs and losses while documents are streamed.

    errors: invalid input. The first error is raised, unless `skip_bad`: then the invalid entity or document is
        skipped and counted by its problem class.
    repairs: input that was normalised (fragments out of order, touching, …).
    losses: what the output format cannot represent (discontinuous entities in BIO, …).
    in_utf16: offsets of what is read count UTF-16 units; see `read`.
    """

    def __init__(self, *, skip_bad: bool = False) -> None:
        self.skip_bad = skip_bad
        self.in_utf16 = False
        self.errors: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self.losses: Counter[str] = Counter()
        self.examples: list[BadInput] = []

    def error(self, error: BadInput) -> None:
        """Raise `error`, or count it and return if invalid input is skipped."""
        if not self.skip_bad:
            raise error
        self.errors[error.problem] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(error)

    def repaired(self, what: str, times: int = 1) -> None:
        if times:
            self.repairs[what] += times

    def lost(self, what: str, times: int = 1) -> None:
        if times:
            self.losses[what] += times

    def of_utf16(self) -> Ledger:
        """A ledger with the same counts, for a source whose offsets count UTF-16 units."""
        other = copy(self)
        other.in_utf16 = True
        return other

    def taken(self) -> Ledger:
        """The counts so far, which are reset."""
        own = Ledger(skip_bad=self.skip_bad)
        own.add(self)
        for counts in (self.errors, self.repairs, self.losses, self.examples):
            counts.clear()
        return own

    def add(self, other: Ledger) -> None:
        """Add the counts of another ledger."""
        self.errors += other.errors
        self.repairs += other.repairs
        self.losses += other.losses
        self.examples += other.examples[: EXAMPLES - len(self.examples)]


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
        return f"{counted(self.documents, 'documents')} with {counted(self.entities, 'entities')}"
