"""Discontinuous entities in tools that only know spans: a span for each fragment, linked to the first one.

Label Studio, doccano and Prodigy have no gaps, but relations between spans. A discontinuous entity is one span for each
fragment, all with its label, and a relation `fragment` from the first to each of the others. On reading, spans of one
label that such relations connect are one entity, whichever way they were drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, Fragment
from disconer.formats.code_units import advice, to_characters
from disconer.formats.entities import Gathered, build_entity
from disconer.formats.extras import with_unique_ids

LINK = "fragment"
EMPTY_IDS = "empty entity ids"
UNLIKE = "links between spans of different labels"

Links = list[tuple[int, int]]  # positions in a list of spans


class Span(NamedTuple):
    """A span as a file has it, whatever its values are."""

    label: Any
    start: Any
    end: Any
    id: str | None = None
    score: Any = None
    surface: str | None = None


class Piece(NamedTuple):
    """A fragment of an entity, to be written as a span. `number` is the entity's, from 0; `part` the fragment's."""

    entity: Entity
    fragment: Fragment
    number: int
    part: int


def with_names(document: Document, ledger: Ledger) -> Document:
    """The document with ids that a tool can hold: none of them empty or there twice."""
    empty = sum(entity.id == "" for entity in document.entities)
    ledger.lost(EMPTY_IDS, empty)
    if empty:
        entities = tuple(replace(entity, id=entity.id or None) for entity in document.entities)
        document = document.replace(entities=entities)
    return with_unique_ids(document, ledger)


def pieces_of(document: Document) -> tuple[list[Piece], Links]:
    """A span for each fragment, and links from the first of each entity to its others."""
    pieces: list[Piece] = []
    links: Links = []
    for number, entity in enumerate(document.entities):
        first = len(pieces)
        pieces += [Piece(entity, fragment, number, part) for part, fragment in enumerate(entity.fragments)]
        links += [(first, other) for other in range(first + 1, len(pieces))]
    return pieces, links


def entities_of(spans: Sequence[Span], links: Links, text: str, where: Where, ledger: Ledger) -> list[Entity]:
    """The entities of spans; each has the id and the score of the span that its links start from."""
    gathered = Gathered(where, ledger)
    if ledger.in_utf16:
        character = to_characters(text, ledger)
        spans = [span._replace(start=character(span.start), end=character(span.end)) for span in spans]
    alike = [(one, other) for one, other in links if spans[one].label == spans[other].label]
    ledger.lost(UNLIKE, len(links) - len(alike))
    for group in _connected(len(spans), alike):
        head = spans[group[0]]
        own = [spans[position] for position in group]
        for span in own[1:]:
            _check_surface(span, text, where, ledger)
        pairs, surface = _sorted([(span.start, span.end) for span in own]), head.surface if len(own) == 1 else None
        entity = build_entity(
            head.label,
            pairs,
            text,
            ledger=ledger,
            path=where.path or "",
            line=where.line,
            document=where.document,
            id=head.id,
            score=head.score,
            surface=surface,
            fix=advice(pairs, text, surface),
        )
        if entity is not None:
            gathered.add(entity, {})
    return gathered.entities


def _check_surface(span: Span, text: str, where: Where, ledger: Ledger) -> None:
    """Whether a further fragment has the text that the file says; the entity as a whole has none to compare."""
    if span.surface is not None:
        pairs, path = [(span.start, span.end)], where.path or ""
        fix = advice(pairs, text, span.surface)
        build_entity("x", pairs, text, ledger=ledger, path=path, surface=span.surface, fix=fix)


def _sorted(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    whole = all(type(offset) is int for pair in pairs for offset in pair)
    return sorted(pairs) if whole else pairs


def _connected(n_spans: int, links: Links) -> list[list[int]]:
    """Groups of linked positions, each starting with one that no link leads to, in the order of these."""
    groups = {position: [position] for position in range(n_spans)}
    for one, other in links:
        if groups[one] is not groups[other]:
            groups[one] += groups[other]
            for position in groups[other]:
                groups[position] = groups[one]
    targets = {other for _, other in links}
    unique = {id(group): group for group in groups.values()}
    return sorted(sorted(group, key=lambda position: (position in targets, position)) for group in unique.values())


def whole_number(id: str | None) -> int | None:
    """An id as a whole number, which most tools require; None if it is not one."""
    return int(id) if id is not None and id.isascii() and id.isdigit() and len(id) < 16 and str(int(id)) == id else None


def text_id(value: Any) -> str | None:
    """An id that may be a number in the file, as text; None if there is none."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value else None


def objects_at(record: dict[str, Any], name: str, where: Where) -> list[dict[str, Any]]:
    """The objects in a list of a record; none if it is absent."""
    items = record.get(name) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadInput("bad-syntax", f"The field {name!r} is not a list of objects", where=where)
    return items


def free_names(wanted: Iterable[str], taken: set[str]) -> list[str]:
    """Names made from those wanted so that none is in `taken`, to which they are added."""
    names = []
    for name in wanted:
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names
