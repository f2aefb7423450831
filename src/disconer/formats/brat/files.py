"""Between a document and its text and annotation files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from itertools import count

from disconer.core.derived import surface_fits
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, normalise
from disconer.formats.beyond import said_elsewhere
from disconer.formats.brat.lines import (
    KEY,
    TEXT_BOUND,
    Layout,
    TextBound,
    brat_label,
    highest_number,
    in_characters,
    is_text_bound_id,
    own_id,
    parse_text_bound,
    text_bound_line,
    without_references,
)
from disconer.formats.brat.misfits import advice, excuse
from disconer.formats.code_units import to_characters
from disconer.formats.entities import build_entity
from disconer.formats.extras import note_trees, note_unsaid
from disconer.formats.source import Member

OTHER_IDS = "entity ids that brat cannot hold, replaced"
SCORES = "scores"
REWRITTEN = "spaces in relations and attributes"

_SPACED_LABEL = re.compile(r"([^\d\s]\S*(?: [^\d\s]\S*)+) \d+ \d+(?:;\d+ \d+)*")


def read_document(id: str, text_file: Member, annotation_files: list[Member], ledger: Ledger) -> Document:
    """A document with the entities of its T lines; the rest of its annotation files is in `extras`.

    Several annotation files (.a1 and .a2) are read as if they were one.
    """
    text = text_file.prose()
    entities: dict[str, Entity] = {}
    lines: list[str] = []
    for member in annotation_files:
        layout = Layout.of_file(member.prose())
        if ledger.in_utf16:
            layout = in_characters(layout, to_characters(text, ledger))
        if lines and not lines[-1]:
            lines.pop()
        lines += _read_lines(layout.lines, text, member.origin, entities, ledger)
    layout = Layout(lines, layout.newline, layout.bom)
    return Document(id, text, tuple(entities.values()), extras=layout.to_extras(entities))


def _read_lines(lines: list[str], text: str, path: str, entities: dict[str, Entity], ledger: Ledger) -> list[str]:
    """Add the entities of a file's T lines to `entities`, by id; return the lines as a layout has them."""
    file = _AnnotationFile(lines, text, path, ledger)
    items = []
    for number, line in enumerate(lines, 1):
        if not line.startswith(TEXT_BOUND):
            items.append(line)
            continue
        id = own_id(line)
        if id in entities:
            ledger.error(_repeated(Where(path, number, entity=id)))
            continue
        entity = file.entity(line, number)
        if entity is None:
            items.append(id)  # an id without its entity: a writer drops it and all that refers to it
        else:
            entities[id] = entity
            items.append(id if line == text_bound_line(id, entity.label, entity.fragments, text) else line)
    return items


class _AnnotationFile:
    """Makes entities from T lines; inspects all of them only if one does not fit the text."""

    def __init__(self, lines: list[str], text: str, path: str, ledger: Ledger) -> None:
        self._lines, self._text, self._path, self._ledger = lines, text, path, ledger

    def entity(self, line: str, number: int) -> Entity | None:
        """The entity of a T line, or None if it was skipped as bad."""
        bound = parse_text_bound(line)
        if bound is None:
            self._ledger.error(_bad_line(line, Where(self._path, number)))
            return None
        id, label, pairs, surface = bound
        text, ledger, path = self._text, self._ledger, self._path
        if surface_fits(pairs, text, surface):
            return build_entity(label, pairs, text, ledger=ledger, path=path, line=number, id=id)
        if reason := excuse(pairs, text, surface, self._labels):
            ledger.repaired(reason)
            return build_entity(label, pairs, text, ledger=ledger, path=path, line=number, id=id)
        return build_entity(
            label, pairs, text, ledger=ledger, path=path, line=number, id=id, surface=surface, fix=self._advice
        )

    @cached_property
    def _bounds(self) -> list[TextBound]:
        return [bound for bound in map(parse_text_bound, self._lines) if bound is not None]

    @cached_property
    def _labels(self) -> set[str]:
        return {bound.label for bound in self._bounds}

    @cached_property
    def _advice(self) -> str | None:
        return advice(self._text, [(bound.pairs, bound.surface) for bound in self._bounds])


def _bad_line(line: str, where: Where) -> BadInput:
    return BadInput(
        "bad-syntax",
        "This T line cannot be read",
        where=where,
        got=excerpt(line),
        expected="'T1<tab>Label start end[;start end…]<tab>text', the offsets whole numbers",
        fix=_how_to_correct(line),
    )


def _how_to_correct(line: str) -> str:
    fields = line.split("\t")
    if len(fields) < 3:
        return "Separate the fields by tabs."
    if spaced := _SPACED_LABEL.fullmatch(fields[1]):
        return f"Labels cannot have spaces in brat: write {spaced[1].replace(' ', '_')}."
    return "Correct the second field."


def _repeated(where: Where) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two T lines of this file have the same id",
        where=where,
        fix="Give one of them another id, and correct the lines that refer to it.",
    )


def annotation_text(document: Document, ledger: Ledger) -> str:
    """The content of a document's .ann file.

    Lines of the original file keep their places. T lines of removed entities are dropped together with the lines
    about them, which are counted as lost; T lines of new entities come last.
    """
    layout = Layout.of_document(document)
    entities = _with_ids(document.entities, layout.lines)
    further = _translated(document, {entity.id: id for id, entity in reversed(entities.items())}, layout, ledger)
    ledger.lost(OTHER_IDS, sum(entity.id not in (None, id) for id, entity in entities.items()))
    ledger.lost(SCORES, sum(entity.score is not None for entity in document.entities))
    lines = _without_removed(layout.lines, entities, ledger)
    final_break = lines[-1:] == [""]
    written = []
    for line in lines[:-1] if final_break else lines:
        if not line.startswith(TEXT_BOUND):
            written.append(line)
        elif entity := entities.pop(own_id(line), None):
            written.append(line if _still_says(line, entity, document) else _new_line(own_id(line), entity, document))
    written += [_new_line(id, entity, document) for id, entity in entities.items()] + further
    ledger.lost("spaces in labels", sum(entity.label != brat_label(entity.label) for entity in document.entities))
    return Layout([*written, ""] if final_break else written, layout.newline, layout.bom).to_file()


def _translated(document: Document, ids: Mapping[str | None, str], layout: Layout, ledger: Ledger) -> list[str]:
    """Lines for the relations, attributes and normalisations that another format's extras hold."""
    beyond = said_elsewhere(document, KEY)
    note_unsaid(document, KEY, ledger, beyond.taken)
    note_trees(document, ledger)
    names = {kind: count(highest_number(layout.lines, kind) + 1) for kind in "RAN"}
    lines = []
    for relation in beyond.relations:
        ends = zip(relation.roles, (relation.subject, relation.object), strict=True)
        lines.append(["R", relation.label, *(f"{brat_label(role)}:{ids[end]}" for role, end in ends)])
    for attribute in beyond.attributes:
        value = [] if attribute.value is None else [attribute.value]
        lines.append(["A", attribute.name, ids[attribute.subject], *value])
    for one in beyond.normalisations:
        lines.append(["N", "Reference", ids[one.subject], f"{one.resource}:{one.reference}"])
    ledger.lost(REWRITTEN, sum(word != brat_label(word) for _, *words in lines for word in words))
    return [
        f"{kind}{next(names[kind])}\t{' '.join(map(brat_label, words))}" + "\t" * (kind == "N")
        for kind, *words in lines
    ]


def _with_ids(entities: tuple[Entity, ...], lines: list[str]) -> dict[str, Entity]:
    """Entities by T id: their own, or a new one where they have none that brat can use."""
    own: dict[str, Entity] = {}
    for entity in entities:
        if entity.id is not None and is_text_bound_id(entity.id):
            own.setdefault(entity.id, entity)
    if len(own) == len(entities):
        return own
    numbers = count(highest_number([*own, *lines]) + 1)
    return {
        entity.id if entity.id and own.get(entity.id) is entity else f"T{next(numbers)}": entity for entity in entities
    }


def _without_removed(lines: list[str], entities: dict[str, Entity], ledger: Ledger) -> list[str]:
    removed = {own_id(line) for line in lines if line.startswith(TEXT_BOUND)} - entities.keys()
    if not removed:
        return lines
    lines, n_changed = without_references(lines, removed)
    ledger.lost("brat lines about removed entities", n_changed)
    return lines


def _still_says(line: str, entity: Entity, document: Document) -> bool:
    """Whether an irregular T line still describes the entity and the text."""
    bound = parse_text_bound(line)
    if bound is None or bound.label != entity.label:
        return False
    try:
        if normalise(bound.pairs, document.text) != entity.fragments:
            return False
    except ValueError:  # extras that were edited
        return False
    labels = {entity.label for entity in document.entities}
    return surface_fits(bound.pairs, document.text, bound.surface) or bool(
        excuse(bound.pairs, document.text, bound.surface, labels)
    )


def _new_line(id: str, entity: Entity, document: Document) -> str:
    return text_bound_line(id, brat_label(entity.label), entity.fragments, document.text)
