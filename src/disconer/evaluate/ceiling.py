"""What a faultless model reaches at best, by settings and kind of entity, and what keeps it from more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from disconer.core.types import Document, Entity, Fragment, Kind, Sentence
from disconer.evaluate.measures import Counts, by_kind, unique
from disconer.text.alignment import Range, TokenEntity, align, to_fragments

EDGE = "has whitespace at an edge"

WordEntity = tuple[str, tuple[Range, ...]]  # an entity of a sentence: its label and its word ranges, sorted
Key = tuple[str, tuple[Fragment, ...]]


class Reach(NamedTuple):
    """What a model can make of the entities of a sentence at best.

    found: what is found if every decision is right: the targets of training, decoded.
    lost: of each entity that is not found, why, as a clause: "has a fragment of more than 8 words".
    """

    found: frozenset[WordEntity]
    lost: Mapping[WordEntity, str]


# The oracle of some settings: from the entities of a sentence and its number of words to what comes back of them.
Oracle = Callable[[Sequence[TokenEntity], int], Reach]


class Ceiling:
    """Adds up oracles over documents.

    oracles: by the name of their settings, those that lose most first.
    counts: of each of them and each kind. The kind of what is found is the one it has among the things found.
    lost: of each, unique entities that it loses, by reason.
    extra: of each, what it finds that is no entity.
    """

    def __init__(self, oracles: Mapping[str, Oracle]) -> None:
        self._oracles = dict(oracles)
        self.names = tuple(self._oracles)
        self.counts: dict[str, dict[Kind, Counts]] = {name: {} for name in self.names}
        self.lost: dict[str, Counter[str]] = {name: Counter() for name in self.names}
        self.extra: Counter[str] = Counter()

    def total(self, name: str) -> Counts:
        return sum(self.counts[name].values(), Counts())

    def add(self, document: Document) -> list[tuple[Entity, str]]:
        """Count one segmented document. Gives the entities that no settings bring back, and why."""
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
        known: dict[int, tuple[Reach, dict[Kind, Counts]]] = {}  # many settings have the very same reach
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
    return by_kind(gold, unique(Document(document.id, document.text, entities)))


def has_edge_whitespace(entity: Entity, document: Document) -> bool:
    text = document.text
    return any(text[start].isspace() or text[end - 1].isspace() for start, end in entity.fragments)


def _kind(entity: Entity) -> Kind:
    assert entity.kind is not None  # it stands in a document
    return entity.kind
