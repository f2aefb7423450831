"""Native JSONL, one document per line: everything that disconer knows of a document, without loss.

{"id": "doc1", "text": "…", "entities": [{"id": "T1", "label": "ADR", "fragments": [[0, 4], [15, 20]], "score": 0.93}],
 "sentences": [{"start": 0, "end": 21, "tokens": [[0, 4], …], "heads": [1, -1, …], "relations": ["nsubj", …]}],
 "extras": {"brat": …}}

`id` of an entity, `score`, `sentences`, `heads`, `relations` and `extras` may be absent. An entity may repeat its
`start`, `end` and `text`, as `Entity.to_dict` does: then they must be those of its fragments.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Entity
from disconer.formats.code_units import advice, to_characters
from disconer.formats.entities import build_entity
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import check_depth, leading_keys, parse_json, shown
from disconer.formats.source import Member

UNKNOWN_FIELDS = "fields that disconer's JSONL does not define"
# Fields that identify other formats, which may also have an id and a text.
_FOREIGN = {"passages", "denotations", "label", "labels", "relations", "spans", "answer", "_task_hash", "annotation_id"}
FIELDS = {"id", "text", "entities", "sentences", "extras"}
# Fields that `Entity.to_dict` adds: they follow from the fragments. So does `kind`, but from other entities, too.
_REPEATED = {"start", "end", "text"}
_ENTITY_FIELDS = {"id", "label", "fragments", "score", "kind", *_REPEATED}

_Character = Callable[[Any], Any]  # from an offset of the file to one in characters


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
    id = _field(record, "id", str, where)
    if not id:
        raise BadInput("bad-syntax", "The id of this document is empty", where=where, fix="Give it one.")
    ledger.lost(UNKNOWN_FIELDS, len(record.keys() - FIELDS))
    character = to_characters(text, ledger)
    entities = []
    for item in _field(record, "entities", list, where, default=[]):
        entity = _read_entity(item, text, character, ledger, where)
        if entity is not None:
            entities.append(entity)
    sentences = _read_sentences(_field(record, "sentences", list, where, default=None), where)
    if sentences and ledger.in_utf16:
        sentences = tuple([_moved(sentence, character) for sentence in sentences])
    try:
        return Document(
            id=id,
            text=text,
            entities=tuple(entities),
            sentences=sentences,
            extras=check_depth(_field(record, "extras", dict, where, default={}), where),
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
            got=None if value is None else shown(value),
            expected=f"a JSON {'string' if kind is str else 'array' if kind is list else 'object'}",
            fix="The page on formats describes the schema.",
        )
    return value


def _read_entity(item: Any, text: str, character: _Character, ledger: Ledger, where: Where) -> Entity | None:
    try:
        given = item["fragments"] if "fragments" in item else [(item["start"], item["end"])]
        label, pairs = item["label"], [(character(start), character(end)) for start, end in given]
        id, score = item.get("id"), item.get("score")
        unknown = item.keys() - _ENTITY_FIELDS
        repeated = {} if _REPEATED.isdisjoint(item) else _repeated(item, character)
    except (TypeError, KeyError, ValueError, AttributeError):
        expected = '{"label": …, "fragments": [[start, end], …]}'
        problem = BadInput("bad-syntax", "This is not an entity", where=where, got=excerpt(item), expected=expected)
        ledger.error(problem)
        return None
    ledger.lost(UNKNOWN_FIELDS, len(unknown))
    if id == "":
        ledger.repaired("empty entity ids removed")
        id = None
    place: dict[str, Any] = {"path": where.path or "", "line": where.line}
    fix = advice(pairs, text, repeated.get("surface"))
    return build_entity(label, pairs, text, ledger=ledger, **place, id=id, score=score, fix=fix, **repeated)


def _repeated(item: dict[str, Any], character: _Character) -> dict[str, Any]:
    """The redundant fields that `build_entity` checks. An entity outside any document has an empty text."""
    surface = item.get("text")
    extent = character(item.get("start")), character(item.get("end"))
    return {"surface": None if surface == "" else surface, "extent": extent}


def _read_sentences(items: list[Any] | None, where: Where) -> tuple[Sentence, ...] | None:
    if items is None:
        return None
    try:
        return tuple(map(_read_sentence, items))
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise BadInput(
            "bad-syntax",
            "This is not a sentence",
            where=where,
            got=excerpt(repr(error), 160),
            expected='{"start": …, "end": …, "tokens": [[start, end], …]}',
        ) from error


def _read_sentence(item: Any) -> Sentence:
    tokens = tuple([Token(start, end) for start, end in item["tokens"]])
    heads, relations = item.get("heads"), item.get("relations")
    numbers = [item["start"], item["end"], *chain.from_iterable(tokens), *(heads or ())]
    if not all(type(number) is int for number in numbers):
        raise TypeError("an offset or a head is not a whole number")
    if not all(isinstance(relation, str) for relation in relations or ()):
        raise TypeError("a relation is not a string")
    return Sentence(item["start"], item["end"], tokens, heads, relations)


def _moved(sentence: Sentence, character: _Character) -> Sentence:
    """The sentence with all offsets in characters."""
    tokens = tuple([Token(character(start), character(end)) for start, end in sentence.tokens])
    return replace(sentence, start=character(sentence.start), end=character(sentence.end), tokens=tokens)


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, line in member.lines():
        if not line.strip():
            continue
        try:
            record = parse_json(line, Where(member.origin, number))
            yield from_record(record, ledger=ledger, path=member.origin, line=number)
        except BadInput as error:
            ledger.error(error)


def to_line(document: Document) -> bytes:
    """The line of a document in a file, with its line end: the JSON of `to_record`. It begins with the document's id.

    It is built by hand because most of it is pairs of offsets, which `json` takes four times as long for.
    """
    entities, sentences = ",".join(map(_entity_json, document.entities)), ""
    if document.sentences is not None:
        sentences = f',"sentences":[{",".join(map(_sentence_json, document.sentences))}]'
    extras = f',"extras":{_json(dict(document.extras))}' if document.extras else ""
    head = f'{{"id":{_string(document.id)},"text":{_string(document.text)}'
    line = f'{head},"entities":[{entities}]{sentences}{extras}}}\n'
    return line.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


_string = json.encoder.encode_basestring
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _pairs_json(pairs: Sequence[tuple[int, int]]) -> str:
    if len(pairs) == 1:
        ((start, end),) = pairs
        return f"[[{start:d},{end:d}]]"
    return f"[{','.join(['[%d,%d]'] * len(pairs))}]" % tuple(chain.from_iterable(pairs))


def _entity_json(entity: Entity) -> str:
    id = "" if entity.id is None else f'"id":{_string(entity.id)},'
    score = entity.score
    written = "" if score is None else f',"score":{repr(score) if type(score) is float else _json(score)}'
    return f'{{{id}"label":{_string(entity.label)},"fragments":{_pairs_json(entity.fragments)}{written}}}'


def _sentence_json(sentence: Sentence) -> str:
    heads = "" if sentence.heads is None else f',"heads":{_json(sentence.heads)}'
    relations = "" if sentence.relations is None else f',"relations":{_json(sentence.relations)}'
    tokens = _pairs_json(sentence.tokens)
    return f'{{"start":{sentence.start:d},"end":{sentence.end:d},"tokens":{tokens}{heads}{relations}}}'


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    stream.writelines(map(to_line, documents))


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return head.removeprefix(BOM_UTF8).lstrip()[:1] == b"{" and keys >= {"id", "text"} and not keys & _FOREIGN


FORMAT = Format(
    name="jsonl",
    about="disconer's own: one JSON document per line",
    holds="everything",
    suffixes=(".jsonl", ".ndjson"),
    sniff=_sniff,
    reads_utf16=True,
    read=member_reader((".jsonl", ".ndjson"), _read),
    write=stream_writer(_write),
    lines_stand_alone=True,
)
