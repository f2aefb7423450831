"""From annotated documents to what is answered."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, normalise
from disconer.formats.brat.write import annotation_text
from disconer.serve.problems import not_valid
from disconer.serve.schemas import RenderRequest


def wanted(document: Document, threshold: float, labels: Collection[str] | None) -> Document:
    """The document with those entities that were asked for; kinds follow from what is left."""
    entities = tuple(
        entity
        for entity in document.entities
        if (entity.score is None or entity.score >= threshold) and (labels is None or entity.label in labels)
    )
    return document if len(entities) == len(document.entities) else document.replace(entities=entities)


def brat_answer(document: Document) -> dict[str, Any]:
    return {"id": document.id, "text": document.text, "ann": brat(document)}


def brat(document: Document) -> str:
    """The content of the .ann file."""
    return annotation_text(document, Ledger())


def given_document(asked: RenderRequest) -> Document:
    """The document that a request holds."""
    try:
        entities = [Entity(one.label, normalise(one.fragments), one.id, one.score) for one in asked.entities]
        return Document("text-1", asked.text, tuple(entities))
    except ValueError as error:  # offsets
        raise not_valid(f"This is not a document: {error}.") from None
