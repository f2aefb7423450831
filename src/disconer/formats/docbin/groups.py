"""Entities as a spaCy span group, and back.

One `Span` is one fragment; the fragments of an entity share `span.id`. What spans cannot represent is in `group.attrs`:

    "scores": one number per span, as spaCy's own span categorizer writes them
    "disconer": "left_out", a list, and "widened", by span id: entities as they really are, where their borders lie
                inside a spaCy token;
                "renamed", by span id: the ids of entities that had none, or one that another had too;
                "document": what else disconer knows of a document, where the Doc was made from one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from spacy.tokens import Doc, Span, SpanGroup

from disconer.core.types import Document, Entity, normalise

KEY = "disconer"  # the default key of the span group, and that of our own attributes within it
Alignment = Literal["strict", "expand"]


@dataclass(slots=True)
class Placed:
    """Entities on spaCy's tokens.

    spans: the spans of each entity that has any, with its score.
    left_out, widened, renamed: see the module.
    """

    spans: list[tuple[list[Span], float | None]] = field(default_factory=list)
    left_out: list[Entity] = field(default_factory=list)
    widened: dict[str, Entity] = field(default_factory=dict)
    renamed: dict[str, str | None] = field(default_factory=dict)


def place(doc: Doc, entities: Sequence[Entity], alignment: Alignment = "strict") -> Placed:
    """Find the tokens of entities. Where a border lies inside a token, the entity is left out, or made wider."""
    placed = Placed()
    for name, entity in _named(entities):
        spans = _spans(doc, entity, entity.fragments, name)
        if spans is None and alignment == "expand":
            placed.widened[name] = entity
            spans = _spans(doc, entity, _whole_tokens(doc, entity), name)
        if spans is None:
            placed.left_out.append(entity)
            continue
        placed.spans.append((spans, entity.score))
        if name != entity.id:
            placed.renamed[name] = entity.id
    return placed


def _named(entities: Sequence[Entity]) -> Iterator[tuple[str, Entity]]:
    """Entities with ids that no two of them share: their own where possible."""
    taken = {entity.id for entity in entities}
    unused = (name for number in count(1) if (name := f"T{number}") not in taken)
    given: set[str] = set()
    for entity in entities:
        name = entity.id if entity.id and entity.id not in given else next(unused)
        given.add(name)
        yield name, entity


def _spans(doc: Doc, entity: Entity, pairs: Sequence[tuple[int, int]], name: str) -> list[Span] | None:
    """A span for each pair; None if one of them begins or ends inside a token."""
    spans = []
    for start, end in pairs:
        span = doc.char_span(start, end, label=entity.label, span_id=name)
        if span is None:
            return None
        spans.append(span)
    return spans


def _whole_tokens(doc: Doc, entity: Entity) -> Sequence[tuple[int, int]]:
    """The ranges of all tokens that an entity touches; fragments that touch are one."""
    spans = [doc.char_span(start, end, alignment_mode="expand") for start, end in entity.fragments]
    return normalise([(span.start_char, span.end_char) for span in spans if span is not None], doc.text)


def write_group(doc: Doc, placed: Placed, key: str = KEY, *, document: str | None = None) -> None:
    """Put entities into `doc.spans[key]`, in place of what was there."""
    own: dict[str, Any] = {
        "left_out": [_record(entity) for entity in placed.left_out],
        "widened": {name: _record(entity) for name, entity in placed.widened.items()},
        "renamed": placed.renamed,
        "document": document,
    }
    doc.spans[key] = SpanGroup(
        doc,
        name=key,
        attrs={
            "scores": [score for spans, score in placed.spans for _ in spans],
            KEY: {name: value for name, value in own.items() if value},
        },
        spans=[span for spans, _ in placed.spans for span in spans],
    )


def is_ours(group: SpanGroup) -> bool:
    """Whether disconer wrote a span group."""
    return KEY in group.attrs


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity as a span group has it, not yet checked."""

    label: str
    pairs: list[tuple[int, int]]
    id: str | None = None
    score: float | None = None

    def to_entity(self) -> Entity:
        return Entity(self.label, normalise(self.pairs), self.id, self.score)


def mentions_of(group: SpanGroup) -> list[Mention]:
    """The entities of a span group: spans that share an id are one; and those that spans cannot represent."""
    own = group.attrs.get(KEY, {})
    renamed, widened = own.get("renamed", {}), own.get("widened", {})
    scores = group.attrs.get("scores", ())
    if len(scores) != len(group):  # spans were added or removed
        scores = [None] * len(group)
    found: dict[object, Mention] = {}
    for position, span in enumerate(group):
        name = _name(span)
        place: object = (name, span.label) if name else position
        if place not in found and name in widened:
            found[place] = _from_record(widened[name])
        elif place not in found:
            found[place] = Mention(span.label_, [], renamed.get(name, name), scores[position])
        if name not in widened:
            found[place].pairs.append((span.start_char, span.end_char))
    left_out = [_from_record(record) for record in own.get("left_out", ())]
    mentions = [*found.values(), *left_out]
    return sorted(mentions, key=lambda mention: mention.pairs) if left_out else mentions


def _name(span: Span) -> str | None:
    try:
        return span.id_ or None
    except KeyError:  # given as a number, for which spaCy knows no string
        return str(span.id)


def _record(entity: Entity) -> dict[str, Any]:
    pairs = [list(fragment) for fragment in entity.fragments]
    return {"id": entity.id, "label": entity.label, "fragments": pairs, "score": entity.score}


def _from_record(record: dict[str, Any]) -> Mention:
    pairs = [(start, end) for start, end in record["fragments"]]
    return Mention(record["label"], pairs, record["id"], record["score"])


def entities_of(doc: Doc, key: str = KEY) -> tuple[Entity, ...]:
    """The entities of `doc.spans[key]`, with their exact characters; none if there is no such group."""
    if key not in doc.spans:
        return ()
    entities = tuple([mention.to_entity() for mention in mentions_of(doc.spans[key])])
    return Document("doc", doc.text, entities).entities
