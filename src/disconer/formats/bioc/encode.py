"""From our document to the `bioc` library's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from disconer.core.errors import Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.bioc.decode import COLLECTION_FIELDS, LABEL, SCORE
from disconer.formats.bioc.layout import NAME, Homes, completed, texts_at
from disconer.formats.extras import carried, note_unsaid
from disconer.formats.passages import holds

if TYPE_CHECKING:
    from bioc import BioCCollection, BioCDocument

OTHER_COLLECTIONS = "documents' collections other than the first document's"


def encoded(documents: Iterable[Document], ledger: Ledger) -> tuple[BioCCollection, Iterator[BioCDocument]]:
    """The collection that the first document came from, without documents, and the documents one by one."""
    stream = iter(documents)
    first = next(stream, None)
    origin = {} if first is None else _origin(first)
    rest = stream if first is None else chain([first], stream)
    return _collection(origin), (_of_collection(document, origin, ledger) for document in rest)


def _of_collection(document: Document, origin: dict[str, Any], ledger: Ledger) -> BioCDocument:
    if _origin(document) not in ({}, origin):
        ledger.lost(OTHER_COLLECTIONS)
    return to_bioc(document, ledger)


def _origin(document: Document) -> dict[str, Any]:
    """What a document says of the collection that it came from."""
    with carried(document, NAME) as layout:
        said = dict(layout.get("collection", {}))
        infons = {"infons": dict(said["infons"])} if "infons" in said else {}
        return {name: str(said[name]) for name in COLLECTION_FIELDS if name in said} | infons


def _collection(origin: dict[str, Any]) -> BioCCollection:
    from bioc import BioCCollection

    collection = BioCCollection()
    for name in COLLECTION_FIELDS:
        setattr(collection, name, origin.get(name, ""))  # the library would put today's date
    collection.infons = origin.get("infons", {})
    return collection


def to_bioc(document: Document, ledger: Ledger) -> BioCDocument:
    """The document in passages as its extras describe them, or in one from offset 0."""
    from bioc.biocjson import fromJSON

    note_unsaid(document, NAME, ledger)
    with carried(document, NAME) as layout:
        record = _record(document, layout, ledger)
    return fromJSON(completed(record, Where(document=document.id), ledger), "BioCDocument")


def _record(document: Document, layout: Mapping[str, Any], ledger: Ledger) -> dict[str, Any]:
    """The document as BioC JSON."""
    whole = [{"offset": 0, "length": len(document.text)}]
    passages = layout.get("passages", whole)
    has_changed = not holds(document.text, texts_at(passages))  # somebody changed the text
    if has_changed:
        ledger.lost("passages that no longer fit their text", len(passages))
        passages = whole
    record = _part(layout) | {"id": document.id, "passages": [_passage(part, document.text) for part in passages]}
    homes, mentions = Homes(passages), layout.get("mentions", {})
    for entity in document.entities:
        beyond = mentions.get(entity.id, {})
        innermost = homes.of(entity.fragments)
        home = innermost if has_changed else beyond.get("home", innermost)
        part = record
        for level, number in zip(("passages", "sentences"), home, strict=False):
            part = part[level][number]
        part["annotations"].append(_annotation(entity, beyond))
    return record


def _passage(part: Mapping[str, Any], text: str) -> dict[str, Any]:
    sentences = [_placed(sentence, text) for sentence in part.get("sentences", ())]
    return _placed(part, text) | {"sentences": sentences}


def _placed(part: Mapping[str, Any], text: str) -> dict[str, Any]:
    start = part["offset"]
    return _part(part) | {"offset": start, "text": text[start : start + part.get("length", 0)]}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "infons": part.get("infons"),
        "relations": part.get("relations"),
        "annotations": list(part.get("annotations", ())),
    }


def _annotation(entity: Entity, beyond: Mapping[str, Any]) -> dict[str, Any]:
    score = {} if entity.score is None else {SCORE: repr(entity.score)}
    return {
        "id": entity.id,
        "infons": {LABEL: entity.label, **beyond.get("infons", {}), **score},
        "locations": [{"offset": start, "length": end - start} for start, end in entity.fragments],
        "text": entity.text,
    }
