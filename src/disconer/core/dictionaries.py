"""Documents and entities from dictionaries: those of `to_dict`, of native JSONL and of the HTTP service."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

from disconer.core.derived import check_extent, check_surface
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, normalise


def entity_from_dict(values: Mapping[str, Any]) -> Entity:
    """An entity; without fragments, from its start and end."""
    label = _needed(values, "label", "an entity", '{"label": …, "fragments": [[start, end], …]}')
    pairs = values.get("fragments")
    if pairs is None:
        what, expected = "an entity without fragments", "a start and an end, or fragments"
        pairs = [(_needed(values, "start", what, expected), _needed(values, "end", what, expected))]
    fragments = normalise(_pairs(pairs))
    check_extent(fragments, values.get("start"), values.get("end"))
    return Entity(label, fragments, values.get("id"), values.get("score"))


def document_from_dict(values: Mapping[str, Any]) -> Document:
    """A document; the text of an entity, where present, must match its fragments."""
    schema = '{"id": …, "text": …, "entities": […]}'
    id, text = (_needed(values, name, "a document", schema) for name in ("id", "text"))
    given = _field(values, "entities", list, tuple) or ()
    sentences = _field(values, "sentences", list, tuple)
    document = Document(
        id,
        text,
        tuple(map(entity_from_dict, given)),
        None if sentences is None else tuple(map(_sentence, sentences)),
        _field(values, "extras", Mapping) or {},
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


def _pairs(given: Any) -> list[tuple[int, int]]:
    try:
        return [(index(start), index(end)) for start, end in given]
    except (TypeError, ValueError) as error:
        what, expected = "The fragments of this entity are not pairs of whole numbers", "[[start, end], …]"
        raise BadInput("bad-syntax", what, got=excerpt(given), expected=expected) from error


def _sentence(values: Any) -> Sentence:
    try:
        return Sentence(**values)
    except TypeError as error:
        expected = '{"start": …, "end": …, "tokens": [[start, end], …]}'
        raise BadInput("bad-syntax", "This is not a sentence", got=excerpt(values), expected=expected) from error


def _field(values: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """A value that may be missing, of one of these types."""
    value = values.get(name)
    if value is not None and not isinstance(value, kinds):
        expected = "a list" if list in kinds else "a dictionary"
        what, where = f"The {name} of this document are of the wrong type", Where(document=str(values["id"]))
        raise BadInput("bad-syntax", what, where=where, got=excerpt(value), expected=expected)
    return value


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
