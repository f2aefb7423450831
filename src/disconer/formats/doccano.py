"""doccano's JSONL, of projects with and without relations.

{"id": 7, "label": [[0, 6, "Severity"]],
 "entities": [{"id": 1, "label": "Severity", "start_offset": 0, "end_offset": 6},
              {"id": 2, "label": "ADR", "start_offset": 7, "end_offset": 11}, {"id": 3, …}],
 "relations": [{"id": 4, "from_id": 2, "to_id": 3, "type": "fragment"}],
 "text": "Severe pain in knees and hands"}

`entities` and `relations` are what a project with relations imports and exports; `label`, what one without does.
Both are written; `label` has the continuous entities alone. `entities` are read, or else `label` or `labels`. Ids of
entities are whole numbers. Other fields go to `extras["doccano"]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import carried, note_unsaid
from disconer.formats.format import Format
from disconer.formats.jsonfiles import field, json_writer, leading_keys, record_reader
from disconer.formats.linked import (
    LINK,
    Links,
    Span,
    entities_of,
    objects_at,
    pieces_of,
    text_id,
    whole_number,
    with_names,
)

NAME = "doccano"
IDS = "entity ids that are not whole numbers"
SCORES = "scores"
_FIELDS = ("id", "text", "entities", "relations", "label", "labels")


def to_record(document: Document, ledger: Ledger) -> dict[str, Any]:
    """The JSON object of a document."""
    document = with_names(document, ledger)
    note_unsaid(document, NAME, ledger)
    ledger.lost(SCORES, sum(entity.score is not None for entity in document.entities))
    number = whole_number(document.id)
    with carried(document, NAME) as rest:
        others = list(rest.pop("relations", ()))
        entities, relations = _linked(document, others, ledger)
        return {
            "id": document.id if number is None else number,
            "label": [[*one.fragments[0], one.label] for one in document.entities if len(one.fragments) == 1],
            "entities": entities,
            "relations": [*others, *relations],
            **{name: value for name, value in rest.items() if name not in _FIELDS},
            "text": document.text,
        }


def _linked(document: Document, others: list[Any], ledger: Ledger) -> tuple[list[Any], list[Any]]:
    pieces, links = pieces_of(document)
    own = [whole_number(entity.id) for entity in document.entities]
    named = [entity.id for entity in document.entities if entity.id is not None]
    ledger.lost(IDS, len(named) - sum(number is not None for number in own))
    used = [number for number in own if number is not None]
    used += [item["id"] for item in others if type(item.get("id")) is int]
    numbers = count(max(used, default=0) + 1)
    ids: list[int] = []
    entities = []
    for piece in pieces:
        known = own[piece.number] if piece.part == 0 else None
        ids.append(next(numbers) if known is None else known)
        start, end = piece.fragment
        entities.append({"id": ids[-1], "label": piece.entity.label, "start_offset": start, "end_offset": end})
    relations = [{"id": next(numbers), "from_id": ids[one], "to_id": ids[other], "type": LINK} for one, other in links]
    return entities, relations


def from_record(record: Any, name: str, where: Where, ledger: Ledger) -> Document:
    """The document of a JSON object, called `name` if it has no id."""
    text = field(record, "text", str, where)
    id = text_id(record.get("id")) or name
    place = Where(where.path, where.line, document=id)
    items = objects_at(record, "entities", place)
    spans = [_span(item) for item in items] if items else list(_labels(record, place, ledger))
    positions = {span.id: number for number, span in reversed(list(enumerate(spans))) if span.id is not None}
    links: Links = []
    others = []
    for relation in objects_at(record, "relations", place):
        ends = [positions.get(text_id(relation.get(end))) for end in ("from_id", "to_id")]
        if relation.get("type") == LINK and ends[0] is not None and ends[1] is not None:
            links.append((ends[0], ends[1]))
        else:
            others.append(relation)
    rest = {name: value for name, value in record.items() if name not in _FIELDS}
    extras = rest | ({"relations": others} if others else {})
    entities = tuple(entities_of(spans, links, text, place, ledger))
    return Document(id, text, entities, extras={NAME: extras} if extras else {})


def _span(item: dict[str, Any]) -> Span:
    return Span(item.get("label"), item.get("start_offset"), item.get("end_offset"), text_id(item.get("id")))


def _labels(record: dict[str, Any], where: Where, ledger: Ledger) -> Iterator[Span]:
    """The spans of a project without relations: start, end, label."""
    for item in field(record, "label" if record.get("label") is not None else "labels", list, where, default=[]):
        if isinstance(item, list) and len(item) == 3:
            yield Span(item[2], item[0], item[1])
        else:
            got, expected = excerpt(item), '[start, end, "label"]'
            ledger.error(BadInput("bad-syntax", "This is not a label", where=where, got=got, expected=expected))


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    relations = {"entities", "relations"} <= keys and not keys & {"passages", "denotations", "document_id"}
    return bool(keys & {"label", "labels"} or relations) and not keys & {
        "sentences",
        "sentence",
        "spans",
        "data",
        "answer",
        "annotation_id",  # Label Studio's JSON-MIN
    }


FORMAT = Format(
    name=NAME,
    about="doccano JSONL: spans; fragments are spans linked by a relation",
    holds="all entities, relations",
    suffixes=(".jsonl", ".json", ".ndjson"),
    sniff=_sniff,
    reads_utf16=True,
    read=record_reader(from_record),
    write=json_writer(to_record),
)
