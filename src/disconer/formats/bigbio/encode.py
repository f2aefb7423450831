"""From a document to a bigbio record."""

from __future__ import annotations

from typing import Any

from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.extras import carried, note_unsaid
from disconer.formats.passages import holds

NAME = "bigbio"
SCORES = "scores"


def to_record(document: Document, ledger: Ledger) -> dict[str, Any]:
    """The JSON object of a document."""
    note_unsaid(document, NAME, ledger)
    ledger.lost(SCORES, sum(entity.score is not None for entity in document.entities))
    with carried(document, NAME) as rest:
        passages, beyond = rest.pop("passages", None), rest.pop("entities", {})
        entities = [_entity(entity, document.text, beyond.get(entity.id, {})) for entity in document.entities]
        record = {
            "id": document.id,
            "document_id": document.id,
            "passages": _passages(document, passages, ledger),
            "entities": entities + rest.pop("unlocated", []),
            "events": [],
            "coreferences": [],
            "relations": [],
        }
        return record | rest | {"document_id": document.id}


def whole_passage(id: str, text: str) -> dict[str, Any]:
    """The only passage of a document that came without any, but for its text."""
    return {"id": f"{id}-text", "type": "text", "offsets": [[0, len(text)]]}


def _passages(document: Document, described: list[dict[str, Any]] | None, ledger: Ledger) -> list[dict[str, Any]]:
    text = document.text
    if described is not None:
        pieces = [(start, end - start) for passage in described for start, end in passage["offsets"]]
        if not holds(text, pieces):  # somebody changed the text
            ledger.lost("passages that no longer fit their text", len(described))
            described = None
    return [
        passage | {"text": [text[start:end] for start, end in passage["offsets"]]}
        for passage in described or [whole_passage(document.id, text)]
    ]


def _entity(entity: Entity, text: str, beyond: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": entity.id,
        "type": entity.label,
        "text": [text[start:end] for start, end in entity.fragments],
        "offsets": [[start, end] for start, end in entity.fragments],
        "normalized": [],
    } | beyond
