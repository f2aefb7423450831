"""Documents and entities from dictionaries: those of `to_dict`, of native JSONL and of the HTTP service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disconer.core.derived import check_extent, check_surface
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.types import Document, Entity, Sentence, normalise


def entity_from_dict(values: Mapping[str, Any]) -> Entity:
    """An entity; without fragments, from its start and end."""
    label = _needed(values, "label", "an entity", '{"label": …, "fragments": [[start, end], …]}')
    pairs = values.get("fragments")
    if pairs is None:
        what, expected = "an entity without fragments", "a start and an end, or fragments"
        pairs = [(_needed(values, "start", what, expected), _needed(values, "end", what, expected))]
    fragments = normalise(pairs)
    check_extent(fragments, values.get("start"), values.get("end"))
    return Entity(label, fragments, values.get("id"), values.get("score"))


def document_from_dict(values: Mapping[str, Any]) -> Document:
    """A document; the text of an entity, where present, must match its fragments."""
    schema = '{"id": …, "text": …, "entities": […]}'
    id, text = (_needed(values, name, "a document", schema) for name in ("id", "text"))
    given = values.get("entities") or ()
    sentences = values.get("sentences")
    document = Document(
        id,
        text,
        tuple(map(entity_from_dict, given)),
        None if sentences is None else tuple(Sentence(**sentence) for sentence in sentences),
        values.get("extras") or {},
    )
    for entity, said in zip(document.entities, given, strict=True):
        if said.get("text"):  # empty if the entity was not part of a document
            _check_text(document, entity, said["text"])
    return document


def _check_text(document: Document, entity: Entity, surface: str) -> None:
    try:
        check_surface(entity.fragments, document.text, surface)
    except BadInput as error:
        where = Where(document=document.id, entity=entity.id, offset=entity.start)
        raise error.changed(where=where) from error


def _needed(values: Mapping[str, Any], name: str, what: str, expected: str) -> Any:
    """A required value."""
    if not isinstance(values, Mapping):
        raise BadInput("bad-syntax", f"This is not {what}", got=excerpt(values), expected=expected)
    if values.get(name) is None:
        raise BadInput(
            "bad-syntax",
            f"{what.capitalize()} needs {name!r}",
            got=f"a dictionary with {', '.join(map(repr, values)) or 'nothing in it'}",
            expected=expected,
        )
    return values[name]
