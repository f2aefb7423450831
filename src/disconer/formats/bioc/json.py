"""BioC JSON, through the `bioc` library.

Read: a collection, an array of them (as PubMed Central gives them), {"PubTator3": [documents]}, documents in an
array or one per line. Written: one collection, one document per line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.bioc.documents import COLLECTION_FIELDS, encoded, to_document
from disconer.formats.bioc.layout import UNKNOWN_FIELDS, completed
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import SUFFIXES, dump_json, field, iter_records, leading_keys
from disconer.formats.source import Member

_PUBTATOR = "PubTator3"
_KNOWN = {*COLLECTION_FIELDS, "infons", "documents", "bioctype", "version"}
_BIGBIO = {"document_id", "entities", "events", "coreferences"}  # the other format with passages


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for where, record in iter_records(member, ledger):
        try:
            collection, items = _unwrapped(record, where, ledger)
        except BadInput as error:
            ledger.error(error)
            continue
        for item in items:
            document = _document(item, collection, where, ledger)
            if document is not None:
                yield document


def _unwrapped(record: Any, where: Where, ledger: Ledger) -> tuple[dict[str, Any], list[Any]]:
    """The collection that a record describes, and its documents."""
    if isinstance(record, dict) and _PUBTATOR in record:
        return {}, field(record, _PUBTATOR, list, where)
    if isinstance(record, dict) and "passages" in record:
        return {}, [record]
    items = field(record, "documents", list, where)
    ledger.lost(UNKNOWN_FIELDS, len(record.keys() - _KNOWN))
    collection = {name: field(record, name, str, where, default="") for name in COLLECTION_FIELDS}
    infons = field(record, "infons", dict, where, default={})
    return {name: value for name, value in (collection | {"infons": infons}).items() if value}, items


def _document(item: Any, collection: dict[str, Any], where: Where, ledger: Ledger) -> Document | None:
    from bioc.biocjson import fromJSON

    name = item.get("id") if isinstance(item, dict) else None
    try:
        record = completed(item, Where(where.path, where.line, document=name and str(name)), ledger)
        return to_document(fromJSON(record, "BioCDocument"), collection, where, ledger)
    except BadInput as error:
        ledger.error(error)
        return None


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    from bioc.biocjson import toJSON

    collection, parts = encoded(documents, ledger)
    header = toJSON(collection)
    del header["documents"]
    stream.write(dump_json(header)[:-1] + b', "documents": [')
    for number, part in enumerate(parts):
        stream.write((b",\n" if number else b"\n") + dump_json(toJSON(part)))
    stream.write(b"\n]}\n")


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    document = "passages" in keys and not keys & _BIGBIO
    return document or _PUBTATOR in keys or ("documents" in keys and bool(keys & _KNOWN - {"documents"}))


FORMAT = Format(
    name="bioc-json",
    about="BioC JSON: passages, annotations with several locations, relations",
    holds="all entities with scores, passages, relations",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=stream_writer(_write),
)
