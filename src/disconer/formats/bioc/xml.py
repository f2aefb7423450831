"""BioC XML, through the `bioc` library, one document at a time.

The library only gets documents that passed our own parser, which refuses entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO
from xml.etree.ElementTree import Element, tostring

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.beyond import TRANSLATED
from disconer.formats.bioc.documents import COLLECTION_FIELDS, encoded, to_document
from disconer.formats.bioc.layout import UNKNOWN_FIELDS, with_infons
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import dump_json
from disconer.formats.seen_ids import with_distinct_ids
from disconer.formats.source import Member
from disconer.formats.xml import iter_xml, without_unwritable

if TYPE_CHECKING:
    from bioc import BioCDocument

SUFFIXES = (".xml", ".bioc")
_LEAVES = {"id", "infon", "offset", "text"}
_TAGS = {"document", "passage", "sentence", "annotation", "location", "relation", "node", *_LEAVES}
_REQUIRED = {"infon": ("key",), "node": ("refid",), "location": ("offset", "length")}
_DEFAULTS = {"annotation": "id", "node": "role"}  # optional attributes in the DTD that the library requires
_WHOLE_NUMBER = re.compile(r"\s*-?[0-9]{1,18}\s*")

REPEATED_INFONS = "infons repeated under one key"
OTHER_INFONS = "infons that are not strings, written as such"


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    collection: dict[str, Any] = {}
    is_bioc = False
    with member.open() as stream:
        for line, element in iter_xml(stream, {"document", "infon", *COLLECTION_FIELDS}, member.origin):
            is_bioc = True
            if element.tag == "document":
                where = Where(member.origin, line, document=element.findtext("id"))
                try:
                    document = to_document(_decoded(element, where, ledger), collection, where, ledger)
                except BadInput as error:
                    ledger.error(error)
                    continue
                yield document
            elif element.tag == "infon":
                collection.setdefault("infons", {})[element.get("key", "")] = element.text or ""
            elif element.text:
                collection[element.tag] = element.text
    if not is_bioc:
        raise BadInput("bad-syntax", "This XML is not a BioC collection", where=Where(member.origin))


def _decoded(element: Element, where: Where, ledger: Ledger) -> BioCDocument:
    from bioc import biocxml

    for part in element.iter():
        _complete(part, where, ledger)
    text = tostring(element, encoding="unicode").replace("\r", "&#13;")  # a bare CR would be read back as LF
    try:
        (document,) = biocxml.loads(f"<collection>{text}</collection>").documents
    except SyntaxError as error:  # lxml's; it refuses texts over 10 MB
        raise BadInput("bad-syntax", "This document cannot be parsed", where=where, got=str(error)) from error
    for bearer in with_infons(document):
        bearer.infons = {key: value or "" for key, value in bearer.infons.items()}
    return document


def _complete(part: Element, where: Where, ledger: Ledger) -> None:
    """Check what the library takes for granted, and count what it ignores."""
    if part.tag not in _TAGS:
        ledger.lost(UNKNOWN_FIELDS)
        return
    if part.tag in _LEAVES and len(part):
        raise _bad(f"<{part.tag}> holds other elements", where, f"<{part[0].tag}>", "text only")
    if part.tag in _DEFAULTS:
        part.attrib.setdefault(_DEFAULTS[part.tag], "")
    for name in _REQUIRED.get(part.tag, ()):
        if name not in part.attrib:
            raise _bad(f"<{part.tag}> lacks its attribute {name!r}", where)
    numbers = [part.get("offset"), part.get("length")] if part.tag == "location" else []
    if part.tag in ("passage", "sentence"):
        numbers = [part.findtext("offset")]
    for number in numbers:
        if not _WHOLE_NUMBER.fullmatch(number or ""):
            raise _bad(f"<{part.tag}> has no whole number for an offset or length", where, excerpt(number))
    keys = [infon.get("key") for infon in part.findall("infon")]
    ledger.lost(REPEATED_INFONS, len(keys) - len(set(keys)))


def _bad(what: str, where: Where, got: str | None = None, expected: str | None = None) -> BadInput:
    return BadInput("bad-syntax", what, where=where, got=got, expected=expected)


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    from bioc.biocxml import BioCXMLDocumentWriter

    writable = (without_unwritable(document, TRANSLATED, ledger) for document in documents)
    collection, parts = encoded(with_distinct_ids(writable, ledger), ledger)
    writer = BioCXMLDocumentWriter(stream, encoding="utf-8")
    try:
        collection.infons = _strings(collection.infons, ledger)
        writer.write_collection_info(collection)
        for document in parts:
            for bearer in with_infons(document):
                bearer.infons = _strings(bearer.infons, ledger)
            writer.write_document(document)
    finally:
        writer.close()


def _strings(infons: dict[str, Any], ledger: Ledger) -> dict[str, str]:
    """Infons as XML has them. BioC JSON in the wild also holds nulls, numbers and objects."""
    ledger.lost(OTHER_INFONS, sum(not isinstance(value, str) for value in infons.values()))
    return {key: value if isinstance(value, str) else _as_string(value) for key, value in infons.items()}


def _as_string(value: Any) -> str:
    return "" if value is None else dump_json(value).decode()


def _sniff(name: str, head: bytes) -> bool:
    return b"<collection" in head and (b"<document>" in head or b"BioC" in head or b"<source" in head)


FORMAT = Format(
    name="bioc-xml",
    about="BioC XML: passages, annotations with several locations, relations",
    holds="all entities with scores, passages, relations",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=stream_writer(_write),
)
