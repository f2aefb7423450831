"""The folder of an adjudication: what all annotators agree on as brat files, and the rest beside them.

    notes/1.txt  notes/1.ann  notes/1.disputed.json

The .ann has the entities that all annotators of the document have. The .disputed.json, which brat ignores, has those
that not all have, and is missing where there are none:

    {"version": 1, "document": "notes/1", "annotators": ["anna", "ben"],
     "disputes": [{"start": 7, "end": 30, "classes": ["fragments"],
                   "versions": {"anna": [{"id": "T2", "label": "ADR", "fragments": [[7, 11], [25, 30]],
                                          "text": "pain hands"}],
                                "ben": []}}]}

A dispute is entities that share text. `versions` has every annotator of the document; an empty list means that they
marked nothing there. `classes` say why each two of them differ: missed, label, boundary, fragments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, Fragment
from disconer.evaluate.annotators.disputes import Dispute, Versions, agreed, disputes
from disconer.formats import write
from disconer.formats.brat.configuration import ensure_annotation_conf
from disconer.formats.extras import note_unsaid
from disconer.formats.jsonfiles import dump_json
from disconer.formats.target import file_id, new_folder, path_within

VERSION = 1
DISPUTED = ".disputed.json"


@dataclass(slots=True)
class Adjudicated:
    """What was written: documents, entities that all agree on, and disputes in how many of the documents."""

    documents: int = 0
    agreed: int = 0
    disputes: int = 0
    disputed_documents: int = 0


def adjudicate(documents: Iterable[Versions], path: Path, ledger: Ledger) -> Adjudicated:
    """Write the folder `path`, whole or not at all; relations, notes and the like of annotators are counted as lost."""
    every = list(documents)
    labels = sorted({one.label for versions in every for document in versions.values() for one in document.entities})
    written = Adjudicated(len(every))
    with new_folder(path) as folder:
        write([_common(versions, written, ledger) for versions in every], folder, "brat", ledger, force=True)
        for versions in every:
            if found := disputes(versions):
                written.disputes += len(found)
                written.disputed_documents += 1
                _write_disputes(versions, found, folder)
        ensure_annotation_conf(folder, labels)
    return written


def _common(versions: Versions, written: Adjudicated, ledger: Ledger) -> Document:
    """The document with the entities that all agree on; what only an annotator's file says about them is lost."""
    first = next(iter(versions.values()))
    for document in versions.values():
        note_unsaid(document.replace(sentences=None), "", ledger)
    entities = tuple(Entity(one.label, one.fragments) for one in agreed(versions))
    written.agreed += len(entities)
    return Document(first.id, first.text, entities)


def _write_disputes(versions: Versions, found: list[Dispute], folder: Path) -> None:
    document = next(iter(versions.values())).id
    record = {
        "version": VERSION,
        "document": document,
        "annotators": list(versions),
        "disputes": [_record(dispute) for dispute in found],
    }
    path = path_within(folder, file_id(document, Ledger()), DISPUTED)
    path.write_bytes(dump_json(record) + b"\n")


def _record(dispute: Dispute) -> dict[str, Any]:
    return {
        "start": dispute.start,
        "end": dispute.end,
        "classes": [one.value for one in dispute.classes],
        "versions": {name: [_entity(entity) for entity in own] for name, own in dispute.versions.items()},
    }


def disputed_entities(folder: Path) -> Iterator[tuple[str, str, Entity]]:
    """For each entity in dispute: the document's name in the folder, the annotator, and the entity."""
    for path in sorted(folder.rglob(f"*{DISPUTED}")):
        document = path.relative_to(folder).as_posix().removesuffix(DISPUTED)
        try:
            record = json.loads(path.read_bytes())
            for dispute in record["disputes"]:
                for name, own in dispute["versions"].items():
                    for one in own:
                        yield document, name, Entity(one["label"], tuple(Fragment(*ends) for ends in one["fragments"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DisconerError(
                "The disputes here are damaged",
                where=Where(str(path)),
                got=str(error) or type(error).__name__,
                fix="Write them again with `disconer agree --adjudicate`, or delete this file.",
            ) from error


def _entity(entity: Entity) -> dict[str, Any]:
    named = {} if entity.id is None else {"id": entity.id}
    fragments = [list(fragment) for fragment in entity.fragments]
    return named | {"label": entity.label, "fragments": fragments, "text": entity.text}
