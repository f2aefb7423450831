"""From the text and annotation files of a document to the document."""

from __future__ import annotations

from functools import cached_property

from disconer.errors import BadInput, Where, excerpt
from disconer.formats.brat.layout import Layout
from disconer.formats.brat.lines import TEXT_BOUND, TextBound, parse_text_bound, text_bound_line
from disconer.formats.build import build_entity, surface_fits
from disconer.formats.misfit import advice, excuse
from disconer.formats.source import Member
from disconer.ledger import Ledger
from disconer.types import Document, Entity


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
    items = []
    misfits = _Misfits(lines, text)
    for number, line in enumerate(lines, 1):
        if not line.startswith(TEXT_BOUND):
            items.append(line)
            continue
        bound = parse_text_bound(line)
        if bound is None or bound.id in entities:
            ledger.fault(_bad_line(line, Where(path, number)) if bound is None else _repeated(bound.id, path, number))
            continue
        entity = _read_entity(bound, text, misfits, ledger, path, number)
        if entity is None:
            items.append(bound.id)  # an id without its entity: a writer drops it and all that refers to it
        else:
            entities[bound.id] = entity
            items.append(bound.id if line == text_bound_line(bound.id, bound.label, entity.fragments, text) else line)
    return items


def _read_entity(bound: TextBound, text: str, misfits: _Misfits, ledger: Ledger, path: str, line: int) -> Entity | None:
    id, label, pairs, surface = bound
    if surface_fits(pairs, text, surface):
        return build_entity(label, pairs, text, ledger=ledger, path=path, line=line, id=id)
    reason = excuse(pairs, text, surface, misfits.labels)
    if reason:
        ledger.repaired(reason)
        return build_entity(label, pairs, text, ledger=ledger, path=path, line=line, id=id)
    return build_entity(
        label, pairs, text, ledger=ledger, path=path, line=line, id=id, surface=surface, fix=misfits.advice
    )


class _Misfits:
    """What one has to know of all T lines when one of them does not fit the text."""

    def __init__(self, lines: list[str], text: str) -> None:
        self._lines, self._text = lines, text

    @cached_property
    def _bounds(self) -> list[TextBound]:
        return [bound for bound in map(parse_text_bound, self._lines) if bound is not None]

    @cached_property
    def labels(self) -> set[str]:
        return {bound.label for bound in self._bounds}

    @cached_property
    def advice(self) -> str | None:
        return advice(self._text, [(bound.pairs, bound.surface) for bound in self._bounds])


def _bad_line(line: str, where: Where) -> BadInput:
    tabs = line.count("\t")
    return BadInput(
        "bad-syntax",
        "This T line cannot be read",
        where=where,
        got=excerpt(line),
        expected="'T1<tab>Label start end[;start end…]<tab>text', the offsets whole numbers",
        fix="Separate the fields by tabs." if tabs < 2 else "Correct the second field.",
    )


def _repeated(id: str, path: str, line: int) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two T lines of this file have the same id",
        where=Where(path, line, entity=id),
        fix="Give one of them another id, and correct the lines that refer to it.",
    )
