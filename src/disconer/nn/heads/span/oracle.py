"""What a faultless span model reaches at best, by width limit and kind, and what keeps it from more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from disconer.core.types import Document, Entity, Fragment, Kind, Sentence
from disconer.evaluate.check import EDGE, Width, has_edge_whitespace
from disconer.evaluate.measures import Counts, by_kind, unique
from disconer.nn.heads.span.targets import span_targets
from disconer.text.alignment import TokenEntity, align, to_fragments
from disconer.text.fragment_graph import assemble

Key = tuple[str, tuple[Fragment, ...]]


def sentence_oracle(sentence: Sentence, entities: Iterable[TokenEntity], max_width: int | None = None) -> set[Key]:
    """What a faultless model would find in one sentence."""
    targets = span_targets(entities, max_width)
    return {
        (entity.label, to_fragments(entity.ranges, sentence))
        for entity in assemble(targets.spans, targets.labels, targets.succession)
    }


# Why an entity is lost at every width, beside the reasons for which it has no tokens (`text.alignment`).
WITHIN = "has only fragments that a larger entity has, too"
JOINED = "has fragments that an entity of another label joins with others"  # succession is of no label
MERGED = "is swallowed by a clique that is no entity"


class Ceiling:
    """Adds up the oracle of documents.

    counts: of each width and kind. The kind of what is found is the one it has among the things found.
    too_wide: of each width, how many entities are lost to it.
    lost: unique entities that no width brings back, by reason.
    extra: cliques that are no entity, at no limit.
    """

    def __init__(self, widths: Iterable[int]) -> None:
        self.widths: tuple[Width, ...] = (*widths, None)
        self.counts: dict[Width, dict[Kind, Counts]] = {width: {} for width in self.widths}
        self.too_wide: Counter[Width] = Counter()
        self.lost: Counter[str] = Counter()
        self.extra = 0

    def total(self, width: Width) -> Counts:
        return sum(self.counts[width].values(), Counts())

    def add(self, document: Document) -> list[tuple[Entity, str]]:
        """Count one segmented document. Gives the entities that no width brings back, and why."""
        aligned, unaligned = align(document)
        reasons = {
            item.entity.key: (item.entity, _why_unaligned(item.entity, item.reason, document)) for item in unaligned
        }
        lost = list(reasons.values())
        for entity, _ in lost:
            self._count_all({_kind(entity): Counts(gold=1)})
        for sentence, entities in zip(document.sentences or (), aligned, strict=True):
            if entities:
                lost += self._add_sentence(document, sentence, entities)
        self.lost.update(reason for _, reason in lost)
        return lost

    def _add_sentence(
        self, document: Document, sentence: Sentence, entities: list[TokenEntity]
    ) -> list[tuple[Entity, str]]:
        """Count one sentence. Only a width below its widest fragment needs an oracle of its own: hardly any does."""
        gold = {item.entity.key: item.entity for item in entities}
        widths = {item.entity.key: max(end - first for first, end in item.ranges) for item in entities}
        unlimited = sentence_oracle(sentence, entities)
        self.extra += len(unlimited - gold.keys())
        counts = _counts(document, gold, unlimited)
        for width in self.widths:
            if width is None or width >= max(widths.values()):
                self._count(width, counts)
            else:
                self._count(width, _counts(document, gold, sentence_oracle(sentence, entities, width)))
                self.too_wide[width] += sum(widths[key] > width for key in gold.keys() & unlimited)
        return [(entity, _why_lost(key, gold)) for key, entity in gold.items() if key not in unlimited]

    def _count_all(self, counts: dict[Kind, Counts]) -> None:
        for width in self.widths:
            self._count(width, counts)

    def _count(self, width: Width, counts: dict[Kind, Counts]) -> None:
        own = self.counts[width]
        for kind, new in counts.items():
            own[kind] = own.get(kind, Counts()) + new


def _counts(document: Document, gold: dict[Key, Entity], found: set[Key]) -> dict[Kind, Counts]:
    entities = tuple(Entity(label, fragments) for label, fragments in found)
    return by_kind(gold, unique(Document(document.id, document.text, entities)))


def _why_unaligned(entity: Entity, reason: str, document: Document) -> str:
    return EDGE if has_edge_whitespace(entity, document) else reason


def _why_lost(key: Key, gold: Iterable[Key]) -> str:
    label, fragments = key
    larger = {other for other, others in gold if set(fragments) < set(others)}
    return WITHIN if label in larger else JOINED if larger else MERGED


def _kind(entity: Entity) -> Kind:
    assert entity.kind is not None  # it stands in a document
    return entity.kind
