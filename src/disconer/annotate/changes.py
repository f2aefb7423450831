"""What an edit does to a document: entities removed and added, notes, and suggestions rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from disconer.core.types import Document, Entity, Fragment, normalise
from disconer.formats.brat.lines import KEY, TEXT_BOUND, Layout, highest_number, is_text_bound_id

Key = tuple[str, tuple[Fragment, ...]]  # label and fragments
NOTE = "AnnotatorNotes"  # brat's name for annotators' notes


class Outdated(Exception):
    """A change of an entity that the document no longer has."""


@dataclass(frozen=True, slots=True)
class Change:
    """One step of an annotator, which is undone as one.

    remove, add: entities; one that is in both by its id is changed, and keeps its place.
    notes: by the id of an entity; an empty one is removed.
    reject, restore: label and fragments of suggestions that are not, or again, to be shown.
    """

    remove: tuple[Entity, ...] = ()
    add: tuple[Entity, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    reject: tuple[Key, ...] = ()
    restore: tuple[Key, ...] = ()


def apply(document: Document, change: Change) -> Document:
    """The document after a change."""
    entities: list[Entity | None] = list(document.entities)
    added = {entity.id: entity for entity in change.add if entity.id is not None}
    for gone in change.remove:
        place = _place(entities, gone)
        entities[place] = None if gone.id is None else added.pop(gone.id, None)
    left = [entity for entity in change.add if entity.id is None or added.get(entity.id) is entity]
    new = _numbered([entity for entity in entities if entity is not None], left, document)
    changed = document.replace(entities=tuple(new))
    for id, note in change.notes.items():
        changed = with_note(changed, id, note)
    return changed


def _place(entities: list[Entity | None], wanted: Entity) -> int:
    for place, entity in enumerate(entities):
        if entity is not None and entity.id == wanted.id and entity.key == wanted.key:
            return place
    raise Outdated(f"{wanted.label} {wanted.id}")


def _numbered(entities: list[Entity], added: Iterable[Entity], document: Document) -> list[Entity]:
    """Entities and those added, each of which has an id of its own: the next number, if it has none or a taken one."""
    taken = {entity.id for entity in entities}
    for entity in added:
        if entity.id is None or entity.id in taken:
            entity = replace(entity, id=f"{TEXT_BOUND}{next_number(document.replace(entities=tuple(entities)))}")
        taken.add(entity.id)
        entities.append(entity)
    return entities


def next_number(document: Document) -> int:
    """The number that brat would give a new entity: one more than the highest that is defined or mentioned."""
    lines = _layout(document).lines if KEY in document.extras else []
    own = [entity.id for entity in document.entities if entity.id]
    return highest_number([*own, *lines]) + 1


def notes(document: Document) -> dict[str, str]:
    """The annotators' notes on entities, by id."""
    found: dict[str, str] = {}
    for line in _layout(document).lines:
        if about := _noted(line):
            found.setdefault(about, line.split("\t", 2)[2])
    return found


def with_note(document: Document, id: str, note: str) -> Document:
    """The document with this note on an entity, instead of an existing one; an empty note removes it."""
    layout, text = _layout(document), " ".join(note.split())
    place = next((place for place, line in enumerate(layout.lines) if _noted(line) == id), None)
    lines = list(layout.lines)
    if place is not None:
        own, _, _ = lines[place].partition("\t")
        lines[place : place + 1] = [f"{own}\t{NOTE} {id}\t{text}"] if text else []
    elif text:
        end = len(lines) - (lines[-1:] == [""])
        lines[end:] = [f"#{highest_number(lines, '#') + 1}\t{NOTE} {id}\t{text}", ""]
    layout = replace(layout, lines=lines)
    others = {name: value for name, value in document.extras.items() if name != KEY}
    ids = [entity.id for entity in document.entities if entity.id and is_text_bound_id(entity.id)]
    return document.replace(extras=others | layout.to_extras(ids))


def _noted(line: str) -> str | None:
    """The id that a line is an annotator's note on."""
    parts = line.split("\t", 2)
    words = parts[1].split() if len(parts) == 3 and line.startswith("#") else []
    return words[1] if len(words) == 2 and words[0] == NOTE else None


def _layout(document: Document) -> Layout:
    """The lines of a document's .ann; of one without a record, its entities and nothing else."""
    if KEY in document.extras:
        return Layout.of_document(document)
    ids = [entity.id for entity in document.entities if entity.id and is_text_bound_id(entity.id)]
    return Layout([*ids, ""])


def fitted(label: str, pairs: Iterable[tuple[int, int]], text: str, id: str | None = None) -> Entity:
    """An entity as an annotator made it: fragments within the text, without whitespace at their edges."""
    trimmed = [_trimmed(start, end, text) for start, end in pairs]
    return Entity(label, normalise([(start, end) for start, end in trimmed if start < end], text), id)


def _trimmed(start: int, end: int, text: str) -> tuple[int, int]:
    if not 0 <= start < end <= len(text):
        raise ValueError(f"[{start}, {end}) is not in a text of {len(text)} characters")
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
