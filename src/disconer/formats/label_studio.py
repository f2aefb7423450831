"""Label Studio JSON: tasks with a text, annotations and predictions.

[{"id": 7, "data": {"text": "Severe pain in knees and hands"},
  "annotations": [{"result": [
    {"id": "a", "from_name": "label", "to_name": "text", "type": "labels",
     "value": {"start": 7, "end": 11, "text": "pain", "labels": ["ADR"]}},
    {"id": "b", …, "value": {"start": 25, "end": 30, "text": "hands", "labels": ["ADR"]}},
    {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", "labels": ["fragment"]}]}]}]

The first annotation that was not cancelled is read, or else the first prediction. A document's id is data.id, or the
task's. Offsets count characters; files of versions before 1.5 count UTF-16 units, which is detected by the texts of the
regions and corrected. What else a task has goes to `extras["label-studio"]`. A document whose entities all have scores
is written as a prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.code_units import CodeUnits
from disconer.formats.extras import carried, note_unsaid
from disconer.formats.format import Format
from disconer.formats.jsonfiles import SUFFIXES, field, json_writer, leading_keys, record_reader
from disconer.formats.linked import (
    LINK,
    Links,
    Span,
    entities_of,
    free_names,
    objects_at,
    pieces_of,
    text_id,
    with_names,
)

NAME = "label-studio"
OTHERS = "annotations of a task beside the first"
UTF16 = "documents whose offsets count UTF-16 units"
_LISTS = ("annotations", "completions", "predictions")
_OURS = {"model_version": "disconer"}  # of a prediction
_NAMES = ("label", "text")  # from_name and to_name, as in Label Studio's template


def to_record(document: Document, ledger: Ledger) -> dict[str, Any]:
    """The task of a document."""
    document = with_names(document, ledger)
    note_unsaid(document, NAME, ledger)
    with carried(document, NAME) as rest:
        data = dict(rest.pop("data", {}))
        names = rest.pop("names", _NAMES)
        key = rest.pop("text_key", "text")
        annotation = dict(rest.pop("annotation", {}))
        others = list(rest.pop("results", ()))
        result = [*_regions(document, names), *others]
        if text_id(rest.get("id")) != document.id:
            data["id"] = document.id
        scored = bool(document.entities) and all(entity.score is not None for entity in document.entities)
        if scored:
            annotation = _OURS | annotation
        kind = "predictions" if scored else "annotations"
        return {**rest, "data": data | {key: document.text}, kind: [annotation | {"result": result}]}


def _regions(document: Document, names: Any) -> Iterator[dict[str, Any]]:
    pieces, links = pieces_of(document)
    from_name, to_name = names
    taken = {entity.id for entity in document.entities if entity.id is not None}
    ids: list[str] = []
    for piece in pieces:
        base = piece.entity.id or f"e{piece.number + 1}"
        own = piece.entity.id if piece.part == 0 else None
        ids += [own] if own is not None else free_names([f"{base}.{piece.part + 1}" if piece.part else base], taken)
        start, end = piece.fragment
        value = {"start": start, "end": end, "text": document.text[start:end], "labels": [piece.entity.label]}
        region = {"id": ids[-1], "from_name": from_name, "to_name": to_name, "type": "labels", "value": value}
        yield region if piece.entity.score is None else region | {"score": piece.entity.score}
    for one, other in links:
        ends = {"from_id": ids[one], "to_id": ids[other]}
        yield {"type": "relation", **ends, "direction": "right", "labels": [LINK]}


def from_record(record: Any, name: str, where: Where, ledger: Ledger) -> Document:
    """The document of a task, called `name` if it has no id."""
    data = dict(field(record, "data", dict, where))
    key = _text_key(data, where)
    text = data.pop(key)
    own_id = data.get("id")
    id = data.pop("id") if isinstance(own_id, str) and own_id else text_id(record.get("id")) or name
    place = Where(where.path, where.line, document=id)
    annotation = _chosen(record, place, ledger)
    regions = _Regions(objects_at(annotation, "result", place))
    spans = _in_characters(regions.spans, text, ledger)
    rest = {field: value for field, value in record.items() if field not in ("data", *_LISTS)}
    about = {field: value for field, value in annotation.items() if field != "result"}
    kept = {
        "data": data,
        "text_key": key if key != "text" else None,
        "annotation": about if about != _OURS else None,
        "results": regions.others,
        "names": list(regions.names) if regions.names != _NAMES else None,
    }
    extras = rest | {field: value for field, value in kept.items() if value}
    entities = tuple(entities_of(spans, regions.links, text, place, ledger))
    return Document(id, text, entities, extras={NAME: extras} if extras else {})


def _text_key(data: dict[str, Any], where: Where) -> str:
    """The field of the data that holds the text: `text`, or the only string but for the id."""
    if isinstance(data.get("text"), str):
        return "text"
    strings = [name for name, value in data.items() if isinstance(value, str) and name != "id"]
    if len(strings) != 1:
        raise BadInput(
            "bad-syntax",
            "This task has no text",
            where=where,
            got=f"data with the fields {', '.join(map(str, data)) or 'none'}",
            expected="a field `text`, or a single field that is a string",
            fix="Rename the field of the text to `text`.",
        )
    return strings[0]


def _chosen(record: dict[str, Any], where: Where, ledger: Ledger) -> dict[str, Any]:
    """The annotation that is read; the others are of other annotators, or of models."""
    lists = {name: objects_at(record, name, where) for name in _LISTS}
    done = [one for one in lists["annotations"] + lists["completions"] if not one.get("was_cancelled")]
    every = [one for own in lists.values() for one in own]
    chosen = next(iter(done or lists["predictions"]), None)
    ledger.lost(OTHERS, len(every) - (chosen is not None))
    return chosen or {}


class _Regions:
    """The results of an annotation: spans and links between them, other results, and the names of the tags."""

    def __init__(self, results: list[dict[str, Any]]) -> None:
        self.spans: list[Span] = []
        self.links: Links = []
        self.others: list[dict[str, Any]] = []
        self.names: tuple[Any, Any] = _NAMES
        self._positions: dict[str, int] = {}
        relations = [result for result in results if result.get("type") == "relation"]
        for result in results:
            if result.get("type") != "relation":
                self._add_region(result)
        for relation in relations:
            self._add_relation(relation)

    def _add_region(self, result: dict[str, Any]) -> None:
        value = result.get("value")
        labels = value.get("labels") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(labels, list) or "start" not in value:
            self.others.append(result)
            return
        self.names = (result.get("from_name", self.names[0]), result.get("to_name", self.names[1]))
        id = text_id(result.get("id"))
        if id is not None:
            self._positions.setdefault(id, len(self.spans))
        surface = value.get("text") if isinstance(value.get("text"), str) else None
        for number, label in enumerate(labels):
            own = None if number else id
            self.spans.append(Span(label, value["start"], value.get("end"), own, result.get("score"), surface))

    def _add_relation(self, relation: dict[str, Any]) -> None:
        one, other = (self._positions.get(text_id(relation.get(end)) or "") for end in ("from_id", "to_id"))
        if relation.get("labels") == [LINK] and one is not None and other is not None:
            self.links.append((one, other))
        else:
            self.others.append(relation)


def _in_characters(spans: list[Span], text: str, ledger: Ledger) -> list[Span]:
    """Spans whose offsets count characters: converted if their texts only fit in UTF-16 units, unless all are."""
    if ledger.in_utf16 or text.isascii() or all(_fits(span, text) for span in spans):
        return spans
    units = CodeUnits(text)
    moved = [span._replace(start=units.character(span.start), end=units.character(span.end)) for span in spans]
    if not all(_fits(span, text) for span in moved):
        return spans
    ledger.repaired(UTF16)
    return moved


def _fits(span: Span, text: str) -> bool:
    whole = type(span.start) is int and type(span.end) is int
    return span.surface is None or (whole and text[span.start : span.end] == span.surface)


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "data" in keys and "text" not in keys


FORMAT = Format(
    name=NAME,
    about="Label Studio JSON: tasks; fragments are regions linked by a relation",
    holds="all entities with scores, other results",
    suffixes=SUFFIXES,
    sniff=_sniff,
    reads_utf16=True,
    read=record_reader(from_record),
    write=json_writer(to_record),
)
