"""Errors and warnings of a corpus, and the best F1 that a model can reach on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, Fragment, Kind
from disconer.evaluate.measures import Counts, by_kind, unique
from disconer.text import segment
from disconer.text.alignment import Range, TokenEntity, align, to_fragments

EDGE = "has whitespace at an edge"

WordEntity = tuple[str, tuple[Range, ...]]  # an entity of a sentence: its label and its word ranges, sorted
Key = tuple[str, tuple[Fragment, ...]]


class Reach(NamedTuple):
    """What a model can find of the entities of a sentence at best.

    found: what is found if every decision is right: the targets of training, decoded.
    lost: of each entity that is not found, why, as a clause: "has a fragment of more than 8 words".
    """

    found: frozenset[WordEntity]
    lost: Mapping[WordEntity, str]


# The oracle of some settings: from the entities of a sentence and its number of words to what can be found.
Oracle = Callable[[Sequence[TokenEntity], int], Reach]


class Ceiling:
    """Adds up oracles over documents.

    oracles: by the name of their settings, those that lose most first.
    counts: of each of them and each kind. A gold entity that is found has its kind in the gold document, whatever else
        is found beside it; one that is not gold has the kind that it has among the things found.
    lost: of each, unique entities that it loses, by reason.
    extra: of each, how many it finds that are not gold entities.
    """

    def __init__(self, oracles: Mapping[str, Oracle]) -> None:
        self._oracles = dict(oracles)
        self.names = tuple(self._oracles)
        self.counts: dict[str, dict[Kind, Counts]] = {name: {} for name in self.names}
        self.lost: dict[str, Counter[str]] = {name: Counter() for name in self.names}
        self.extra: Counter[str] = Counter()

    def total(self, name: str) -> Counts:
        return sum(self.counts[name].values(), Counts())

    def best(self) -> tuple[str, float]:
        """The settings that lose least, and their F1; ties: the first."""
        name = max(self.names, key=lambda name: self.total(name).f1)
        return name, self.total(name).f1

    def add(self, document: Document) -> list[tuple[Entity, str]]:
        """Count one segmented document. Returns the entities that cannot be found with any settings, and why."""
        aligned, unaligned = align(document)
        reasons = {
            item.entity.key: (item.entity, EDGE if has_edge_whitespace(item.entity, document) else item.reason)
            for item in unaligned
        }
        lost = list(reasons.values())
        for entity, reason in lost:
            for name in self.names:
                self._count(name, {_kind(entity): Counts(gold=1)})
                self.lost[name][reason] += 1
        for sentence, entities in zip(document.sentences or (), aligned, strict=True):
            if entities:
                lost += self._add_sentence(document, sentence, entities)
        return lost

    def _add_sentence(
        self, document: Document, sentence: Sentence, entities: list[TokenEntity]
    ) -> list[tuple[Entity, str]]:
        gold = {item.entity.key: item.entity for item in entities}
        words = {item.key: item.entity for item in entities}
        always = set(words)
        known: dict[int, tuple[Reach, dict[Kind, Counts]]] = {}  # many settings have the same reach
        for name, oracle in self._oracles.items():
            reach = oracle(entities, len(sentence.tokens))
            if id(reach) not in known:
                known[id(reach)] = reach, _counts(document, sentence, gold, reach)
            self._count(name, known[id(reach)][1])
            self.extra[name] += len(reach.found - words.keys())
            self.lost[name].update(reach.lost.values())
            always &= reach.lost.keys()
        return [(entity, reach.lost[key]) for key, entity in words.items() if key in always]

    def _count(self, name: str, counts: dict[Kind, Counts]) -> None:
        own = self.counts[name]
        for kind, new in counts.items():
            own[kind] = own.get(kind, Counts()) + new


def _counts(document: Document, sentence: Sentence, gold: dict[Key, Entity], reach: Reach) -> dict[Kind, Counts]:
    entities = tuple(Entity(label, to_fragments(ranges, sentence)) for label, ranges in reach.found)
    found = unique(Document(document.id, document.text, entities))
    return by_kind(gold, {key: gold.get(key, entity) for key, entity in found.items()})


def has_edge_whitespace(entity: Entity, document: Document) -> bool:
    text = document.text
    return any(text[start].isspace() or text[end - 1].isspace() for start, end in entity.fragments)


def _kind(entity: Entity) -> Kind:
    assert entity.kind is not None  # it is part of a document
    return entity.kind


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

    ledger: errors (invalid input), and what was normalised on reading (`repairs`).
    warnings: entities that are usable but look wrong, by reason.
    ceiling: what a model reaches at best, by its settings.
    heads: the same of each kind of head.
    """

    ledger: Ledger
    ceiling: Ceiling
    documents: int = 0
    entities: int = 0
    sentences: int = 0
    sentences_with_heads: int = 0
    heads: Mapping[str, Ceiling] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    warning_examples: list[Example] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        return bool(self.ledger.errors)

    @property
    def examples(self) -> list[Example]:
        """Examples, errors first; limited in number."""
        return [*map(_error_example, self.ledger.examples), *self.warning_examples]

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
        for ceiling in self.heads.values():
            if ceiling is not self.ceiling:
                ceiling.add(document)
        for entity, reason in self.ceiling.add(document):
            if reason != EDGE:
                self._note(reason, entity, document)

    def _note(self, warning: str, entity: Entity, document: Document) -> None:
        self.warnings[warning] += 1
        if self.warnings[warning] <= EXAMPLES_EACH:
            where = Where(document=document.id, entity=entity.id, offset=entity.start)
            message = f"{where}: {entity.label} {excerpt(entity.text)} {warning}."
            self.warning_examples.append(Example(warning, message, where))

    def to_dict(self) -> dict[str, Any]:
        """JSON values under stable keys."""
        return {
            "documents": self.documents,
            "entities": self.entities,
            "sentences": self.sentences,
            "sentences_with_heads": self.sentences_with_heads,
            "errors": dict(self.ledger.errors),
            "repairs": dict(self.ledger.repairs),
            "warnings": dict(self.warnings),
            "examples": [example.to_dict() for example in self.examples],
            "oracle": {name: self._oracle(name) for name in self.ceiling.names},
            "heads": {head: {"settings": name, "f1": f1} for head, (name, f1) in self.best_settings().items()},
        }

    def best_settings(self) -> dict[str, tuple[str, float]]:
        """The settings of each kind of head with which it reaches most, and the F1 that it then reaches at best."""
        return {head: ceiling.best() for head, ceiling in self.heads.items()}

    def _oracle(self, name: str) -> dict[str, Any]:
        ceiling = self.ceiling
        by_kind = {kind.value: counts.to_dict() for kind, counts in ceiling.counts[name].items()}
        total = ceiling.total(name).to_dict()
        return {"all": total, **by_kind, "lost": dict(ceiling.lost[name]), "extra": ceiling.extra[name]}


def _error_example(error: BadInput) -> Example:
    return Example(error.problem, str(error), error.where or Where())


def check(
    documents: Iterable[Document],
    ceiling: Ceiling,
    ledger: Ledger | None = None,
    heads: Mapping[str, Ceiling] | None = None,
) -> Check:
    """Check documents, one after another.

    ceiling: counts what a model can find at best.
    heads: the same for each kind of head, to be compared.
    ledger: the one that their reader keeps; with `skip_bad`, so that it counts errors instead of raising the first.
    """
    account = Check(ledger or Ledger(skip_bad=True), ceiling, heads=heads or {})
    for document in documents:
        account.add(document)
    return account
