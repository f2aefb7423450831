"""Native JSONL, one document per line: everything that disconer knows of a document, without loss.

{"id": "doc1", "text": "…", "entities": [{"id": "T1", "label": "ADR", "fragments": [[0, 4], [15, 20]], "score": 0.93}],
 "sentences": [{"start": 0, "end": 21, "tokens": [[0, 4], …], "heads": [1, -1, …], "relations": ["nsubj", …]}],
 "extras": {"brat": …}}

`id` of an entity, `score`, `sentences`, `heads`, `relations` and `extras` may be absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, Sentence, Token
from disconer.formats.entities import build_entity
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import leading_keys
from disconer.formats.source import Member


def to_record(document: Document) -> dict[str, Any]:
    """The JSON object of a document."""
    record: dict[str, Any] = {
        "id": document.id,
        "text": document.text,
        "entities": [_entity_record(entity) for entity in document.entities],
    }
    if document.sentences is not None:
        record["sentences"] = [_sentence_record(sentence) for sentence in document.sentences]
    if document.extras:
        record["extras"] = dict(document.extras)
    return record


def _entity_record(entity: Entity) -> dict[str, Any]:
    record: dict[str, Any] = {} if entity.id is None else {"id": entity.id}
    record |= {"label": entity.label, "fragments": entity.fragments}
    return record if entity.score is None else record | {"score": entity.score}


def _sentence_record(sentence: Sentence) -> dict[str, Any]:
    record: dict[str, Any] = {"start": sentence.start, "end": sentence.end, "tokens": sentence.tokens}
    if sentence.heads is not None:
        record["heads"] = sentence.heads
    if sentence.relations is not None:
        record["relations"] = sentence.relations
    return record


def from_record(record: Any, *, ledger: Ledger, path: str, line: int | None = None) -> Document:
    """The document of a JSON object; `BadInput` if it is not one."""
    where = Where(path, line)
    if not isinstance(record, dict):
        raise BadInput("bad-syntax", "This line is not a document", where=where, got=excerpt(record))
    text = _field(record, "text", str, where)
    entities = []
    for item in _field(record, "entities", list, where, default=[]):
        entity = _read_entity(item, text, ledger, where)
        if entity is not None:
            entities.append(entity)
    try:
        return Document(
            id=_field(record, "id", str, where),
            text=text,
            entities=tuple(entities),
            sentences=_read_sentences(_field(record, "sentences", list, where, default=None), where),
            extras=_field(record, "extras", dict, where, default={}),
        )
    except ValueError as error:
        raise BadInput("bad-syntax", str(error), where=where) from error


def _field(record: dict[str, Any], name: str, kind: type, where: Where, **default: Any) -> Any:
    value = record.get(name)
    if value is None and "default" in default:
        return default["default"]
    if not isinstance(value, kind):
        raise BadInput(
            "bad-syntax",
            f"The field {name!r} is {'missing' if value is None else 'of the wrong type'}",
            where=where,
            got=None if value is None else excerpt(value),
            expected=f"a JSON {'string' if kind is str else 'array' if kind is list else 'object'}",
            fix="The page on formats describes the schema.",
        )
    return value


def _read_entity(item: Any, text: str, ledger: Ledger, where: Where) -> Entity | None:
    try:
        return build_entity(
            item["label"],
            [(start, end) for start, end in item["fragments"]],
            text,
            ledger=ledger,
            path=where.path or "",
            line=where.line,
            id=item.get("id"),
            score=item.get("score"),
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        problem = BadInput(
            "bad-syntax",
            "This is not an entity",
            where=where,
            got=excerpt(item),
            expected='{"label": …, "fragments": [[start, end], …]}',
        )
    ledger.error(problem)
    return None


def _read_sentences(items: list[Any] | None, where: Where) -> tuple[Sentence, ...] | None:
    if items is None:
        return None
    try:
        return tuple(
            Sentence(
                item["start"],
                item["end"],
                tuple(Token(start, end) for start, end in item["tokens"]),
                item.get("heads"),
                item.get("relations"),
            )
            for item in items
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise BadInput(
            "bad-syntax",
            "This is not a sentence",
            where=where,
            got=repr(error),
            expected='{"start": …, "end": …, "tokens": [[start, end], …]}',
        ) from error


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, line in member.lines():
        if not line.strip():
            continue
        try:
            try:
                record = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise BadInput(
                    "truncated" if isinstance(error, json.JSONDecodeError) and error.pos >= len(line) else "bad-syntax",
                    "This line is not JSON",
                    where=Where(member.origin, number, getattr(error, "pos", None)),
                    got=excerpt(line[-30:] if len(line) > 30 else line),
                    expected="one JSON object per line",
                    fix="Check that the file is complete.",
                ) from error
            yield from_record(record, ledger=ledger, path=member.origin, line=number)
        except BadInput as error:
            ledger.error(error)


def to_line(document: Document) -> bytes:
    """The line of a document in a file, with its line end. It begins with the document's id."""
    line = json.dumps(to_record(document), ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "backslashreplace") + b"\n"  # a lone surrogate becomes its JSON escape


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    stream.writelines(map(to_line, documents))


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return head.lstrip()[:1] == b"{" and keys >= {"id", "text"} and not keys & {"passages", "denotations"}


FORMAT = Format(
    name="jsonl",
    about="disconer's own: one JSON document per line",
    holds="everything",
    suffixes=(".jsonl", ".ndjson"),
    sniff=_sniff,
    read=member_reader((".jsonl", ".ndjson"), _read),
    write=stream_writer(_write),
    lines_stand_alone=True,
)
