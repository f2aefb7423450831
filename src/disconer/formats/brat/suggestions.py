"""A model's suggestions in a brat document: its own lines stay as they are, and suggestions come after them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from disconer.core.types import Document, Entity
from disconer.formats.brat.lines import KEY, Layout, highest_number

NOTE = "AnnotatorNotes"


@dataclass(slots=True)
class Suggested:
    """What became of suggestions.

    added: new entities. equal: those that the document has. conflicting: those that share text with an entity of their
    label, or have the place of an entity of another label: left out, unless they are wanted.
    """

    added: int = 0
    equal: int = 0
    conflicting: int = 0

    def add(self, other: Suggested) -> None:
        """Add the counts of another document."""
        self.added += other.added
        self.equal += other.equal
        self.conflicting += other.conflicting


def with_suggestions(
    document: Document, suggestions: Iterable[Entity], *, conflicting: bool = False, scores: bool = False
) -> tuple[Document, Suggested]:
    """The document with suggestions as further entities, and counts.

    conflicting: also add those that conflict with an entity of the document. scores: add each score as a note.
    """
    known = {entity.key for entity in document.entities}
    counts = Suggested()
    new = []
    for entity in {one.key: one for one in suggestions}.values():
        if entity.key in known:
            counts.equal += 1
            continue
        if any(_conflict(entity, other) for other in document.entities):
            counts.conflicting += 1
            if not conflicting:
                continue
        new.append(entity)
    counts.added = len(new)
    return _appended(document, new, scores=scores) if new else document, counts


def _conflict(one: Entity, other: Entity) -> bool:
    if one.label != other.label:
        return one.fragments == other.fragments
    return any(a.start < b.end and b.start < a.end for a in one.fragments for b in other.fragments)


def _appended(document: Document, new: list[Entity], *, scores: bool) -> Document:
    """The document with new entities under unused ids, and the lines of its file with notes on their scores."""
    ids = [entity.id for entity in document.entities if entity.id]
    layout = Layout.of_document(document) if document.extras.get(KEY) else Layout([*ids, ""])
    first = highest_number([*layout.lines, *ids]) + 1
    named = [Entity(entity.label, entity.fragments, f"T{number}") for number, entity in enumerate(new, first)]
    first_note = highest_number(layout.lines, "#") + 1
    notes = [
        f"#{number}\t{NOTE} {entity.id}\tscore {suggestion.score:.2f}"
        for number, (entity, suggestion) in enumerate(zip(named, new, strict=True), first_note)
        if scores and suggestion.score is not None
    ]
    entities = (*document.entities, *named)
    if not notes:
        return document.replace(entities=entities)
    final_break = layout.lines[-1:] == [""]
    lines = layout.lines[:-1] if final_break else layout.lines
    lines = [*lines, *(entity.id or "" for entity in named), *notes, *([""] if final_break else [])]
    record = {"lines": lines, "newline": layout.newline, "bom": layout.bom}
    return document.replace(entities=entities, extras={**document.extras, KEY: record})
