"""Prodigy's JSONL: a task per line, with spans, and relations between them.

{"meta": {"id": "note-1"}, "spans": [{"start": 7, "end": 11, "label": "ADR", "token_start": 1, "token_end": 1,
   "entity": 1}, {"start": 25, "end": 30, "label": "ADR", "token_start": 5, "token_end": 5, "entity": 1}],
 "relations": [{"head": 1, "child": 5, "head_span": {…}, "child_span": {…}, "label": "fragment"}],
 "tokens": [{"text": "Severe", "start": 0, "end": 6, "id": 0, "ws": true}, …], "text": "Severe pain in …"}

Relations are those of `rel.manual`, and need tokens, which are written where there is a gap. `entity` is our addition:
it tells apart two entities that begin with the same span. A task with the answer reject or ignore is left out, and
counted. Other fields go to `extras["prodigy"]`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from disconer.core.errors import Where
from disconer.core.ledger import Ledger
from disconer.core.sentence import Token
from disconer.core.types import Document, Fragment
from disconer.formats.extras import carried, note_unsaid
from disconer.formats.format import Format
from disconer.formats.jsonfiles import field, json_writer, leading_keys, record_reader
from disconer.formats.linked import LINK, Links, Piece, Span, entities_of, objects_at, pieces_of, text_id, with_names
from disconer.text import segment

NAME = "prodigy"
SPAN_FIELDS = "fields of spans"
_SPAN = {"start", "end", "label", "id", "score", "entity", "token_start", "token_end"}
_DECLINED = ("reject", "ignore")


def to_record(document: Document, ledger: Ledger) -> dict[str, Any]:
    """The task of a document."""
    document = with_names(document, ledger)
    note_unsaid(document, NAME, ledger)
    with carried(document, NAME) as rest:
        meta = dict(rest.pop("meta", {})) | {"id": document.id}
        others = list(rest.pop("relations", ()))
        pieces, links = pieces_of(document)
        tokens = _tokens(document, rest) if links else None
        spans = [_span_record(piece, tokens) for piece in pieces]
        relations = [*others, *(_relation(spans[one], spans[other]) for one, other in links)]
        record = {"meta": meta, "spans": spans} | ({"relations": relations} if relations else {})
        if tokens is not None:
            record["tokens"] = _token_records(tokens, document.text)
        return record | {name: value for name, value in rest.items() if name not in record} | {"text": document.text}


def _tokens(document: Document, rest: dict[str, Any]) -> list[Token]:
    """The tokens that the task came with, or those of our own tokenizer."""
    if "tokens" in rest:
        return [Token(token["start"], token["end"]) for token in rest["tokens"]]
    return [token for sentence in segment(document).sentences or () for token in sentence.tokens]


def _span_record(piece: Piece, tokens: list[Token] | None) -> dict[str, Any]:
    """tokens: of the document, if its task has them."""
    entity = piece.entity
    record: dict[str, Any] = {"start": piece.fragment.start, "end": piece.fragment.end, "label": entity.label}
    if tokens is not None:
        record |= _token_range(piece.fragment, tokens)
    if entity.id is not None and piece.part == 0:
        record["id"] = entity.id
    if entity.score is not None:
        record["score"] = entity.score
    return record | {"entity": piece.number + 1} if len(entity.fragments) > 1 else record


def _token_range(fragment: Fragment, tokens: list[Token]) -> dict[str, int]:
    """The first and the last token that a fragment touches."""
    first = bisect_right([token.end for token in tokens], fragment.start)
    last = bisect_left([token.start for token in tokens], fragment.end) - 1
    return {"token_start": first, "token_end": max(first, last)}


def _relation(head: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    ends = {"head": head["token_end"], "child": child["token_end"], "head_span": head, "child_span": child}
    return {**ends, "label": LINK}


def _token_records(tokens: list[Token], text: str) -> list[dict[str, Any]]:
    return [
        {"text": text[start:end], "start": start, "end": end, "id": number, "ws": text[end : end + 1] == " "}
        for number, (start, end) in enumerate(tokens)
    ]


def from_record(record: Any, name: str, where: Where, ledger: Ledger) -> Document | None:
    """The document of a task, called `name` if its meta has no id; None for one that was not accepted."""
    answer = record.get("answer") if isinstance(record, dict) else None
    if answer in _DECLINED:
        ledger.lost(f"tasks with the answer {answer}")
        return None
    text = field(record, "text", str, where)
    meta = dict(field(record, "meta", dict, where, default={}))
    id = text_id(meta.pop("id", None)) or name
    place = Where(where.path, where.line, document=id)
    items = objects_at(record, "spans", place)
    ledger.lost(SPAN_FIELDS, sum(len(item.keys() - _SPAN) for item in items))
    links, others = _read_links(items, objects_at(record, "relations", place))
    known = {"text": text, "meta": None, "spans": None, "relations": None}
    rest = {field: value for field, value in record.items() if field not in known}
    if links and rest.get("tokens") == _token_records(_tokens(Document(id, text), {}), text):
        del rest["tokens"]  # they follow from the text
    kept = {"meta": meta, "relations": others}
    extras = rest | {field: value for field, value in kept.items() if value}
    entities = tuple(entities_of([_span(item) for item in items], links, text, place, ledger))
    return Document(id, text, entities, extras={NAME: extras} if extras else {})


def _span(item: dict[str, Any]) -> Span:
    surface = item.get("text") if isinstance(item.get("text"), str) else None
    return Span(
        item.get("label"), item.get("start"), item.get("end"), text_id(item.get("id")), item.get("score"), surface
    )


def _read_links(items: list[dict[str, Any]], relations: list[dict[str, Any]]) -> tuple[Links, list[dict[str, Any]]]:
    """Links between spans by their positions, and the relations that are not links."""
    positions = {_key(item): number for number, item in reversed(list(enumerate(items)))}
    links: Links = []
    others = []
    for relation in relations:
        ends = [positions.get(_key(relation.get(end))) for end in ("head_span", "child_span")]
        if relation.get("label") == LINK and ends[0] is not None and ends[1] is not None:
            links.append((ends[0], ends[1]))
        else:
            others.append(relation)
    return links, others


def _key(item: Any) -> str:
    """A key that identifies a span."""
    return repr([item.get(name) for name in ("start", "end", "label", "entity")]) if isinstance(item, dict) else ""


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return bool(keys & {"spans", "_input_hash", "_task_hash", "answer"}) and not keys & {"denotations", "data"}


FORMAT = Format(
    name=NAME,
    about="Prodigy JSONL: tasks with spans; fragments are spans linked by a relation",
    holds="all entities with scores, tokens",
    suffixes=(".jsonl", ".json", ".ndjson"),
    sniff=_sniff,
    read=record_reader(from_record),
    write=json_writer(to_record),
)
