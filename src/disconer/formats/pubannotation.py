"""PubAnnotation JSON: a text and its denotations, relations and attributes, in one track or several.

{"sourcedb": "PubMed", "sourceid": "123", "text": "…",
 "denotations": [{"id": "T1", "span": [{"begin": 0, "end": 4}, {"begin": 9, "end": 12}], "obj": "Disease"}],
 "relations": [{"id": "R1", "subj": "T1", "pred": "…", "obj": "T2"}], "attributes": […], "tracks": […]}

A document's id is sourcedb-sourceid-divid, as far as they are given, or its file's name. Discontinuous mentions are
read as bags of spans or as chains, and written as bags. A score is an attribute "score". The denotations of a track
get the name of its project before their ids. The rest goes to `extras["pubannotation"]` as it is; there
"denotations" holds by id what denotations say beyond span and obj.

A path without a suffix becomes a folder with one file per document, as PubAnnotation takes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.beyond import NORMALISED, NORMALISED_TEXTS, ROLES, Beyond, said_elsewhere
from disconer.formats.chains import name_of, spans_of, unchain
from disconer.formats.code_units import advice, to_characters
from disconer.formats.entities import Gathered, build_entity
from disconer.formats.extras import carried, note_unsaid, with_unique_ids
from disconer.formats.format import Format, member_reader
from disconer.formats.jsonfiles import SUFFIXES, dump_json, field, iter_records, json_writer, leading_keys
from disconer.formats.source import Member
from disconer.formats.target import new_folder, new_path

NAME = "pubannotation"
SOURCE = ("sourcedb", "sourceid", "divid")
SCORE = "score"  # the attribute that holds one
_TARGET = re.compile(r"/sourcedb/(?P<sourcedb>[^/]+)/sourceid/(?P<sourceid>[^/]+)(?:/divs/(?P<divid>[^/]+))?")


def source_name(record: Mapping[str, Any]) -> str:
    """sourcedb-sourceid-divid, as PubAnnotation calls its files; empty if the record has no source."""
    if record.get("sourceid") is None:
        target = _TARGET.search(str(record.get("target", "")))
        record = target.groupdict() if target else {}
    return "-".join(str(record[part]) for part in SOURCE if record.get(part) is not None)


def prefix_of(track: Any, number: int) -> str:
    project = track.get("project") if isinstance(track, dict) else None
    return f"{project or f'track{number + 1}'}_"


NAMELESS_SCORES = "scores of entities without an id"
RENAMED = "sources of renamed documents"


def to_record(document: Document, ledger: Ledger) -> dict[str, Any]:
    """The JSON object of a document."""
    document = with_unique_ids(document, ledger)
    translated = said_elsewhere(document, NAME)
    note_unsaid(document, NAME, ledger, translated.taken)
    ledger.lost(NORMALISED_TEXTS, sum(bool(one.text) for one in translated.normalisations))
    ledger.lost(ROLES, sum(relation.has_roles for relation in translated.relations))
    with carried(document, NAME) as rest:
        source = {name: rest.pop(name) for name in SOURCE if name in rest}
        if source_name(rest | source) != document.id:
            ledger.lost(RENAMED, int(bool(source)))
            source = {"sourceid": document.id}
        beyond = dict(rest.pop("denotations", {}))
        tracks = [dict(track) for track in rest.get("tracks", ())]
        holders = {prefix_of(track, number): track for number, track in enumerate(tracks)} | {"": rest}
        denoted: dict[str, list[Entity]] = {prefix: [] for prefix in holders}
        for entity in document.entities:
            prefix = next(prefix for prefix in holders if (entity.id or "").startswith(prefix))
            denoted[prefix].append(entity)
        for prefix, holder in holders.items():
            _put(denoted[prefix], holder, prefix, beyond, ledger)
        for name, items in _translated(translated).items():
            rest[name] = [*rest.get(name, ()), *items]
        record = source | {"text": "", "denotations": []} | rest | {"text": document.text}
        return record | {"tracks": tracks} if tracks else record


def _translated(beyond: Beyond) -> dict[str, list[dict[str, Any]]]:
    """Relations and attributes that another format's extras hold, in PubAnnotation's form."""
    relations = [
        {"id": relation.id or f"R{number}", "pred": relation.label, "subj": relation.subject, "obj": relation.object}
        for number, relation in enumerate(beyond.relations, 1)
    ]
    said = [(one.subject, one.name, one.value or True) for one in beyond.attributes]
    said += [(one.subject, NORMALISED, f"{one.resource}:{one.reference}") for one in beyond.normalisations]
    attributes = [
        {"id": f"A{number}", "subj": subject, "pred": name, "obj": value}
        for number, (subject, name, value) in enumerate(said, 1)
    ]
    return {name: items for name, items in (("relations", relations), ("attributes", attributes)) if items}


def _put(
    entities: list[Entity], track: dict[str, Any], prefix: str, beyond: dict[str | None, Any], ledger: Ledger
) -> None:
    """Make the entities the track's denotations, and their scores attributes of it."""
    track["denotations"] = [_denotation(entity, prefix) | beyond.get(entity.id, {}) for entity in entities]
    scored = [entity for entity in entities if entity.score is not None]
    named = [(entity.id.removeprefix(prefix), entity.score) for entity in scored if entity.id is not None]
    ledger.lost(NAMELESS_SCORES, len(scored) - len(named))
    if named:
        scores = [{"id": f"{SCORE}-{id}", "subj": id, "pred": SCORE, "obj": score} for id, score in named]
        track["attributes"] = [*track.get("attributes", ()), *scores]


def _denotation(entity: Entity, prefix: str) -> dict[str, Any]:
    spans = [{"begin": start, "end": end} for start, end in entity.fragments]
    name = {} if entity.id is None else {"id": entity.id.removeprefix(prefix)}
    return {**name, "span": spans[0] if len(spans) == 1 else spans, "obj": entity.label}


_DENOTATION = {"id", "span", "obj"}


def from_record(record: Any, name: str, where: Where, ledger: Ledger) -> Document:
    """The document of a JSON object, called `name` if it has no source."""
    text = field(record, "text", str, where)
    id = source_name(record) or name
    reader = _TrackReader(text, Where(where.path, where.line, document=id), ledger)
    rest = reader.read(record, "")
    del rest["text"]
    if rest.keys() & set(SOURCE) == {"sourceid"}:
        del rest["sourceid"]  # it is the id
    if "tracks" in rest:
        tracks = field(record, "tracks", list, where)
        rest["tracks"] = [reader.read(track, prefix_of(track, number)) for number, track in enumerate(tracks)]
    if reader.gathered.beyond:
        rest["denotations"] = reader.gathered.beyond
    return Document(id, text, tuple(reader.gathered.entities), extras={NAME: rest} if rest else {})


class _TrackReader:
    """Reads the denotations of a document, track by track, into `gathered`."""

    def __init__(self, text: str, where: Where, ledger: Ledger) -> None:
        self.gathered = Gathered(where, ledger)
        self._text, self._where, self._ledger = text, where, ledger
        self._character = to_characters(text, ledger)

    def read(self, track: Any, prefix: str) -> dict[str, Any]:
        """Take the track's entities, and return the rest of it."""
        lists = {name: self._objects(track, name) for name in ("denotations", "relations", "attributes")}
        denotations, relations, loose = unchain(lists["denotations"], lists["relations"])
        for item in loose:
            problem = "This fragment is not in a chain from a denotation with a label"
            self._ledger.error(BadInput("bad-syntax", problem, where=self._place(name_of(item))))
        scores, attributes = _split_scores(lists["attributes"], {name_of(item) for item in denotations})
        for item in denotations:
            entity = self._entity(item, prefix, scores.get(name_of(item)))
            if entity is not None:
                self.gathered.add(entity, {name: value for name, value in item.items() if name not in _DENOTATION})
        rest = {name: value for name, value in track.items() if name not in lists}
        kept = {"relations": relations, "attributes": attributes}
        return rest | {name: value for name, value in kept.items() if value}

    def _objects(self, track: Any, name: str) -> list[dict[str, Any]]:
        items: list[Any] = field(track, name, list, self._where, default=[])
        for item in items:
            if not isinstance(item, dict):
                raise BadInput(
                    "bad-syntax", f"One of the {name} is not an object", where=self._where, got=excerpt(item)
                )
        return items

    def _entity(self, item: dict[str, Any], prefix: str, score: float | None) -> Entity | None:
        name = name_of(item)
        id = None if name is None else f"{prefix}{name}"
        where = self._place(id)
        try:
            label = field(item, "obj", str, where)
            given = [(field(span, "begin", int, where), field(span, "end", int, where)) for span in spans_of(item)]
        except BadInput as error:
            self._ledger.error(error)
            return None
        pairs = [(self._character(start), self._character(end)) for start, end in given]
        return build_entity(
            label,
            pairs,
            self._text,
            ledger=self._ledger,
            path=where.path or "",
            line=where.line,
            document=where.document,
            id=id,
            score=score,
            fix=advice(pairs, self._text),
        )

    def _place(self, id: str | None) -> Where:
        return Where(self._where.path, self._where.line, None, self._where.document, id)


def _split_scores(
    attributes: list[dict[str, Any]], names: set[str | None]
) -> tuple[dict[str | None, float], list[dict[str, Any]]]:
    """The scores of denotations by id, and the attributes that are not scores."""
    scores: dict[str | None, float] = {}
    others = []
    for attribute in attributes:
        subject = name_of(attribute, "subj")
        value: Any = attribute.get("obj")
        is_score = attribute.get("pred") == SCORE and type(value) in (int, float) and 0 <= value <= 1
        if is_score and subject is not None and subject in names and subject not in scores:
            scores[subject] = float(value)
        else:
            others.append(attribute)
    return scores, others


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, (where, record) in enumerate(iter_records(member, ledger), 1):
        name = member.stem if number == 1 else f"{member.stem}-{number}"
        try:
            document = from_record(record, name, where, ledger)
        except BadInput as error:
            ledger.error(error)
            continue
        yield document


_write_file = json_writer(to_record)


def _write(documents: Iterable[Document], path: Path, ledger: Ledger) -> None:
    if path.suffix:
        _write_file(documents, path, ledger)
        return
    with new_folder(path) as folder:
        for document in documents:
            path = new_path(folder, document.id, ".json", Ledger())  # no loss if shortened: the id is in the file
            path.write_bytes(dump_json(to_record(document, ledger)) + b"\n")


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "denotations" in keys or ("text" in keys and bool(keys & {"tracks", "sourceid", "sourcedb"}))


FORMAT = Format(
    name=NAME,
    about="PubAnnotation JSON: denotations with one or more spans, relations, attributes, tracks",
    holds="all entities with scores, relations, attributes",
    suffixes=SUFFIXES,
    sniff=_sniff,
    reads_utf16=True,
    read=member_reader(SUFFIXES, _read),
    write=_write,
)
