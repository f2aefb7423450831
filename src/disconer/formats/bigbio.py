"""bigbio's `kb` record: passages, entities with one or more offsets, events, coreferences, relations.

{"id": "0", "document_id": "123", "passages": [{"id": "1", "type": "title", "text": ["…"], "offsets": [[0, 59]]}],
 "entities": [{"id": "3", "type": "Disease", "text": ["…"], "offsets": [[0, 8]],
               "normalized": [{"db_name": "MESH", "db_id": "D009270"}]}],
 "events": [], "coreferences": [], "relations": []}

Offsets count in the passages' texts joined by single spaces; passages stand at their own offsets where these fit
their texts. Entities without offsets are not mentions: they go to `extras["bigbio"]` as "unlocated". There "entities"
holds by id what entities say beyond label and text (`normalized`), "passages" what those say beyond their text, and
all the rest is as it was. The record has no place for scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.beyond import NORMALISED_TEXTS, ROLES, Normalisation, Relation, said_elsewhere
from disconer.formats.entities import Gathered, build_entity, holds, lay_out
from disconer.formats.extras import carried, note_unsaid, with_unique_ids
from disconer.formats.format import Format, member_reader
from disconer.formats.jsonfiles import SUFFIXES, field, iter_records, json_writer, leading_keys
from disconer.formats.source import Member

NAME = "bigbio"
SCORES = "scores"


def to_record(document: Document, ledger: Ledger) -> dict[str, Any]:
    """The JSON object of a document."""
    document = with_unique_ids(document, ledger)
    translated = said_elsewhere(document, NAME, attributes=False)
    note_unsaid(document, NAME, ledger, translated.taken)
    ledger.lost(NORMALISED_TEXTS, sum(bool(one.text) for one in translated.normalisations))
    ledger.lost(ROLES, sum(relation.has_roles for relation in translated.relations))
    ledger.lost(SCORES, sum(entity.score is not None for entity in document.entities))
    with carried(document, NAME) as rest:
        passages, beyond = rest.pop("passages", None), rest.pop("entities", {})
        entities = [
            _entity(entity, document.text, _normalized(translated.of(entity.id)[1]) | beyond.get(entity.id, {}))
            for entity in document.entities
        ]
        record = {
            "id": document.id,
            "document_id": document.id,
            "passages": _passages(document, passages, ledger),
            "entities": entities + rest.pop("unlocated", []),
            "events": [],
            "coreferences": [],
            "relations": [],
        }
        record |= rest | {"document_id": document.id}
        if translated.relations:
            record["relations"] = [*record["relations"], *map(_relation, translated.relations)]
        return record


def _relation(relation: Relation) -> dict[str, Any]:
    ends = {"arg1_id": relation.subject, "arg2_id": relation.object}
    return {"id": relation.id or "", "type": relation.label, **ends, "normalized": []}


def _normalized(normalisations: list[Normalisation]) -> dict[str, Any]:
    entries = [{"db_name": one.resource, "db_id": one.reference} for one in normalisations]
    return {"normalized": entries} if entries else {}


def whole_passage(id: str, text: str) -> dict[str, Any]:
    """The only passage of a document that came without any, but for its text."""
    return {"id": f"{id}-text", "type": "text", "offsets": [[0, len(text)]]}


def _passages(document: Document, described: list[dict[str, Any]] | None, ledger: Ledger) -> list[dict[str, Any]]:
    text = document.text
    if described is not None:
        pieces = [(start, end - start) for passage in described for start, end in passage["offsets"]]
        if not holds(text, pieces):  # the text was changed
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


_READ = {"document_id", "passages", "entities"}
_ENTITY = {"id", "type", "text", "offsets"}
_LISTS = {"events", "coreferences", "relations"}  # always there, mostly empty

MISPLACED = "passages with wrong offsets, placed again"


def from_record(record: Any, where: Where, ledger: Ledger) -> Document:
    """The document of a JSON object; `BadInput` if it is not one."""
    id = _string(record, "document_id", where) or _string(record, "id", where)
    if not id:
        raise BadInput("bad-syntax", "This record has neither document_id nor id", where=where)
    where = Where(where.path, where.line, document=id)
    text, passages = _laid_out(field(record, "passages", list, where), where, ledger)
    rest = {name: value for name, value in record.items() if name not in _READ and (value or name not in _LISTS)}
    if rest.get("id") == record.get("document_id"):
        rest.pop("id", None)
    if passages != [whole_passage(id, text)]:
        rest["passages"] = passages
    gathered = Gathered(where, ledger)
    unlocated = []
    for item in field(record, "entities", list, where, default=[]):
        if isinstance(item, dict) and not item.get("offsets"):
            unlocated.append(item)
        else:
            _add_entity(item, text, gathered, where, ledger)
    rest |= {name: value for name, value in (("entities", gathered.beyond), ("unlocated", unlocated)) if value}
    return Document(id, text, tuple(gathered.entities), extras={NAME: rest} if rest else {})


def _laid_out(passages: list[Any], where: Where, ledger: Ledger) -> tuple[str, list[dict[str, Any]]]:
    """The text of the passages, and the passages without their texts, but with their ranges in it."""
    texts = [_texts(passage, where) for passage in passages]
    places = [_offsets(passage, where) for passage in passages]
    pieces = [piece for passage in texts for piece in passage]
    pairs = [pair for passage in places for pair in passage]
    text = None
    if [len(piece) for piece in pieces] == [end - start for start, end in pairs]:
        with suppress(BadInput):  # passages that overlap or are out of order: as good as without offsets
            text = lay_out(zip([start for start, _ in pairs], pieces, strict=True), where)
    if text is None:
        ledger.repaired(MISPLACED, len(passages))
        text, places = " ".join(pieces), _joined_by_spaces(texts)
    described = [passage | {"offsets": place} for passage, place in zip(passages, places, strict=True)]
    return text, [{name: value for name, value in passage.items() if name != "text"} for passage in described]


def _joined_by_spaces(texts: list[list[str]]) -> list[list[list[int]]]:
    """Where the pieces of each passage stand when all are joined by single spaces."""
    places, start = [], 0
    for passage in texts:
        place = []
        for piece in passage:
            place.append([start, start + len(piece)])
            start += len(piece) + 1
        places.append(place)
    return places


def _add_entity(item: Any, text: str, gathered: Gathered, where: Where, ledger: Ledger) -> None:
    try:
        id = _string(item, "id", where)
        label = field(item, "type", str, where)
        pairs, surface = _offsets(item, where), " ".join(_texts(item, where))
    except BadInput as error:
        ledger.error(error)
        return
    entity = build_entity(
        label,
        [(start, end) for start, end in pairs],
        text,
        ledger=ledger,
        path=where.path or "",
        line=where.line,
        document=where.document,
        id=id,
        surface=surface or None,
    )
    if entity is not None:
        gathered.add(entity, {name: value for name, value in item.items() if name not in _ENTITY and value})


def _string(record: Any, name: str, where: Where) -> str | None:
    value = record.get(name) if isinstance(record, dict) else None
    if type(value) is int:
        return str(value)
    string: str | None = field(record, name, str, where, default=None)
    return string


def _texts(item: Any, where: Where) -> list[str]:
    """The texts of a passage or entity, which early versions of the schema have as one string."""
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return [item["text"]]
    texts: list[Any] = field(item, "text", list, where)
    if not all(isinstance(text, str) for text in texts):
        raise BadInput("bad-syntax", "A text is not a string", where=where, got=excerpt(texts))
    return texts


def _offsets(item: Any, where: Where) -> list[list[int]]:
    offsets: list[Any] = field(item, "offsets", list, where, default=[])
    if not all(isinstance(pair, list) and [type(offset) for offset in pair] == [int, int] for pair in offsets):
        expected = "[[start, end], …]"
        raise BadInput("bad-syntax", "These are not offsets", where=where, got=excerpt(offsets), expected=expected)
    return offsets


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for where, record in iter_records(member, ledger):
        try:
            document = from_record(record, where, ledger)
        except BadInput as error:
            ledger.error(error)
            continue
        yield document


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "passages" in keys and bool(keys & {"document_id", "entities", "events", "coreferences"})


FORMAT = Format(
    name="bigbio",
    about="bigbio kb records: passages, entities with one or more offsets, events, relations",
    holds="all entities, passages, relations, events",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=json_writer(to_record),
)
