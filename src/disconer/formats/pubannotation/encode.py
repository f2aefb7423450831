"""From a document to a PubAnnotation record, and how PubAnnotation names documents and tracks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.extras import carried, note_unsaid

NAME = "pubannotation"
SOURCE = ("sourcedb", "sourceid", "divid")
SCORE = "score"  # the attribute that holds one
_TARGET = re.compile(r"/sourcedb/(?P<sourcedb>[^/]+)/sourceid/(?P<sourceid>[^/]+)(?:/divs/(?P<divid>[^/]+))?")


def source_name(record: Mapping[str, Any]) -> str:
    """sourcedb-sourceid-divid, as PubAnnotation calls its files; empty if the record does not say its source."""
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
    note_unsaid(document, NAME, ledger)
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
        record = source | {"text": "", "denotations": []} | rest | {"text": document.text}
        return record | {"tracks": tracks} if tracks else record


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
