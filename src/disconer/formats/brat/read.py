"""From the text and annotation files of a document to the document."""

from __future__ import annotations

from functools import cached_property

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.brat.lines import TEXT_BOUND, Layout, TextBound, own_id, parse_text_bound, text_bound_line
from disconer.formats.brat.misfit import advice, excuse
from disconer.formats.entities import build_entity, surface_fits
from disconer.formats.source import Member


def read_document(id: str, text_file: Member, annotation_files: list[Member], ledger: Ledger) -> Document:
    """A document with the entities of its T lines; what else its annotation files say is in `extras`.

    Several annotation files (.a1 and .a2) are read as if they were one.
    """
    text = text_file.prose()
    entities: dict[str, Entity] = {}
    lines: list[str] = []
    for member in annotation_files:
        layout = Layout.of_file(member.prose())
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
            ledger.fault(_repeated(Where(path, number, entity=id)))
            continue
        entity = file.entity(line, number)
        if entity is None:
            items.append(id)  # an id without its entity: a writer drops it and all that refers to it
        else:
            entities[id] = entity
            items.append(id if line == text_bound_line(id, entity.label, entity.fragments, text) else line)
    return items


class _AnnotationFile:
    """Makes entities of T lines; looks at all of them only when one does not fit the text."""

    def __init__(self, lines: list[str], text: str, path: str, ledger: Ledger) -> None:
        self._lines, self._text, self._path, self._ledger = lines, text, path, ledger

    def entity(self, line: str, number: int) -> Entity | None:
        """The entity of a T line, or None if it was skipped as bad."""
        bound = parse_text_bound(line)
        if bound is None:
            self._ledger.fault(_bad_line(line, Where(self._path, number)))
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
        fix="Separate the fields by tabs." if line.count("\t") < 2 else "Correct the second field.",
    )


def _repeated(where: Where) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two T lines of this file have the same id",
        where=where,
        fix="Give one of them another id, and correct the lines that refer to it.",
    )
