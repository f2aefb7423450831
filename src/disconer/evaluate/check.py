"""Errors and warnings of a corpus, and the best F1 that a model can reach on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.evaluate.ceiling import EDGE, Ceiling, has_edge_whitespace
from disconer.text import segment

TWICE = "is annotated twice"
EXAMPLES_EACH = 3  # per warning, so that a frequent one leaves room for others


@dataclass(frozen=True, slots=True)
class Example:
    """An example of a problem. `message` includes its location."""

    problem: str
    message: str
    where: Where

    def to_dict(self) -> dict[str, Any]:
        return {"problem": self.problem, "message": self.message, **asdict(self.where)}


@dataclass(slots=True)
class Check:
    """The result of checking a corpus.

    ledger: errors (`faults`: unusable input) and what was normalised on reading (`repairs`).
    oddities: warnings: entities that are usable but look wrong, by reason.
    ceiling: what a model reaches at best, by its settings.
    """

    ledger: Ledger
    ceiling: Ceiling
    documents: int = 0
    entities: int = 0
    sentences: int = 0
    sentences_with_heads: int = 0
    oddities: Counter[str] = field(default_factory=Counter)
    odd_examples: list[Example] = field(default_factory=list)

    @property
    def has_faults(self) -> bool:
        return bool(self.ledger.faults)

    @property
    def examples(self) -> list[Example]:
        """Examples, errors first; limited in number."""
        return [*map(_fault_example, self.ledger.examples), *self.odd_examples]

    def add(self, document: Document) -> None:
        document = segment(document)
        self.documents += 1
        self.sentences += len(document.sentences or ())
        self.sentences_with_heads += sum(sentence.heads is not None for sentence in document.sentences or ())
        self.entities += len(document.entities)
        seen = set()
        for entity in document.entities:
            if entity.key in seen:
                self._note(TWICE, entity, document)
            seen.add(entity.key)
            if has_edge_whitespace(entity, document):
                self._note(EDGE, entity, document)
        for entity, reason in self.ceiling.add(document):
            if reason != EDGE:
                self._note(reason, entity, document)

    def _note(self, oddity: str, entity: Entity, document: Document) -> None:
        self.oddities[oddity] += 1
        if self.oddities[oddity] <= EXAMPLES_EACH:
            where = Where(document=document.id, entity=entity.id, offset=entity.start)
            message = f"{where}: {entity.label} {excerpt(entity.text)} {oddity}."
            self.odd_examples.append(Example(oddity, message, where))

    def to_dict(self) -> dict[str, Any]:
        """JSON values under stable keys."""
        return {
            "documents": self.documents,
            "entities": self.entities,
            "sentences": self.sentences,
            "sentences_with_heads": self.sentences_with_heads,
            "faults": dict(self.ledger.faults),
            "repairs": dict(self.ledger.repairs),
            "oddities": dict(self.oddities),
            "examples": [example.to_dict() for example in self.examples],
            "oracle": {name: self._oracle(name) for name in self.ceiling.names},
        }

    def _oracle(self, name: str) -> dict[str, Any]:
        ceiling = self.ceiling
        by_kind = {kind.value: counts.to_dict() for kind, counts in ceiling.counts[name].items()}
        total = ceiling.total(name).to_dict()
        return {"all": total, **by_kind, "lost": dict(ceiling.lost[name]), "extra": ceiling.extra[name]}


def _fault_example(error: BadInput) -> Example:
    return Example(error.problem, str(error), error.where or Where())


def check(documents: Iterable[Document], ceiling: Ceiling, ledger: Ledger | None = None) -> Check:
    """Check documents, one after another.

    ceiling: counts what a model can make of them at best.
    ledger: the one that their reader keeps; with `skip_bad`, so that it counts faults instead of raising the first.
    """
    account = Check(ledger or Ledger(skip_bad=True), ceiling)
    for document in documents:
        account.add(document)
    return account
