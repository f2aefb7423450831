"""From a document to its .ann file."""

from __future__ import annotations

from itertools import count

from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, normalise
from disconer.formats.brat.lines import (
    TEXT_BOUND,
    Layout,
    brat_label,
    highest_number,
    is_text_bound_id,
    own_id,
    parse_text_bound,
    text_bound_line,
    without_references,
)
from disconer.formats.brat.misfit import excuse
from disconer.formats.entities import surface_fits
from disconer.formats.extras import note_trees


def annotation_text(document: Document, ledger: Ledger) -> str:
    """The content of a document's .ann file.

    Lines that the document brought along keep their places. T lines of entities that are gone go with the
    lines about them, which are counted as lost; T lines of new entities come last.
    """
    layout = Layout.of_document(document)
    entities = _with_ids(document.entities, layout.lines)
    lines = _without_removed(layout.lines, entities, ledger)
    final_break = lines[-1:] == [""]
    written = []
    for line in lines[:-1] if final_break else lines:
        if not line.startswith(TEXT_BOUND):
            written.append(line)
        elif entity := entities.pop(own_id(line), None):
            written.append(line if _still_says(line, entity, document) else _new_line(own_id(line), entity, document))
    written += [_new_line(id, entity, document) for id, entity in entities.items()]
    note_trees(document, ledger)
    ledger.lost("spaces in labels", sum(entity.label != brat_label(entity.label) for entity in document.entities))
    return Layout([*written, ""] if final_break else written, layout.newline, layout.bom).to_file()


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
    """Whether a raw T line, odd as it may be, is true of the entity and the text as they are now."""
    bound = parse_text_bound(line)
    if bound is None or bound.label != entity.label:
        return False
    try:
        if normalise(bound.pairs, document.text) != entity.fragments:
            return False
    except ValueError:  # extras that somebody edited
        return False
    labels = {entity.label for entity in document.entities}
    return surface_fits(bound.pairs, document.text, bound.surface) or bool(
        excuse(bound.pairs, document.text, bound.surface, labels)
    )


def _new_line(id: str, entity: Entity, document: Document) -> str:
    return text_bound_line(id, brat_label(entity.label), entity.fragments, document.text)
