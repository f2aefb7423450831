"""UIMA JSON CAS: one document per file.

{"%TYPES": {…}, "%FEATURE_STRUCTURES": [
   {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text", "sofaString": "…"},
   {"%ID": 3, "%TYPE": "…ner.type.NamedEntity", "@sofa": 1, "begin": 0, "end": 4, "value": "ADR"}, …],
 "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3]}}}
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from disconer.core.errors import Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Format, file_writer, member_reader
from disconer.formats.jsonfiles import dump_json, field, iter_records, leading_keys
from disconer.formats.source import Member
from disconer.formats.uima.layers import ARRAY, LINK, Key, note_losses, type_system_json
from disconer.formats.uima.structures import SOFA, VIEW, Structure, to_document, to_structures

SUFFIXES = (".json",)
STRUCTURES = "%FEATURE_STRUCTURES"


def content(document: Document, ledger: Ledger) -> bytes:
    """The JSON of a document."""
    note_losses(document, ledger)
    structures = list(to_structures(document))
    sofa = {"sofaNum": 1, "sofaID": VIEW, "mimeType": "text", "sofaString": document.text}
    records = [{"%ID": SOFA, "%TYPE": "uima.cas.Sofa"} | sofa]
    numbers = count(max(int(str(one.number)) for one in structures) + 1)
    for structure in structures:
        record: dict[str, Any] = {"%ID": structure.number, "%TYPE": structure.type}
        if structure.is_annotation:
            record["@sofa"] = SOFA
        for name, targets in structure.references.items():
            record[f"@{name}"] = targets[0]
            if name != "target":
                record[f"@{name}"] = array = next(numbers)
                records.append({"%ID": array, "%TYPE": f"{LINK}[]", "%ELEMENTS": targets})
        records.append(record | structure.features)
    members = [one.number for one in structures if one.is_annotation]
    views = {VIEW: {"%SOFA": SOFA, "%MEMBERS": members}}
    return dump_json({"%TYPES": type_system_json(), STRUCTURES: records, "%VIEWS": views}) + b"\n"


def from_record(record: Any, id: str, where: Where, ledger: Ledger) -> Document:
    """The document of a JSON CAS."""
    if isinstance(record, dict) and isinstance(record.get(STRUCTURES), dict):  # older versions: an object by number
        listed = [item | {"%ID": number} for number, item in record[STRUCTURES].items() if isinstance(item, dict)]
        record = record | {STRUCTURES: listed}
    structures: dict[Key, Structure] = {}
    for item in field(record, STRUCTURES, list, where):
        structure = _structure(item, where)
        structures[structure.number] = structure
    return to_document(id, structures, where, ledger)


def _structure(item: Any, where: Where) -> Structure:
    type = field(item, "%TYPE", str, where)
    references: dict[str, list[Key]] = {}
    features: dict[str, Any] = {}
    for name, value in item.items():
        if name == "%ELEMENTS" and (type.endswith("[]") or type == ARRAY):
            references["elements"] = [_number(one) for one in value] if isinstance(value, list) else []
        elif name.startswith("@"):
            references[name[1:]] = [_number(one) for one in (value if isinstance(value, list) else [value])]
        elif not name.startswith(("%", "#", "^")):
            features[name] = value
    return Structure(_number(item.get("%ID")), type, features, references)


def _number(value: Any) -> Key:
    """A number of a structure, which older versions have as text."""
    return str(value)


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, (where, record) in enumerate(iter_records(member, ledger), 1):
        yield from_record(record, member.stem if number == 1 else f"{member.stem}-{number}", where, ledger)


def _sniff(name: str, head: bytes) -> bool:
    return bool(leading_keys(head) & {STRUCTURES, "%TYPES"})


FORMAT = Format(
    name="cas-json",
    about="UIMA JSON CAS of INCEpTION, one document per file; fragments are linked spans",
    holds="all entities, sentences, tokens",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=file_writer(".json", content, "JSON CAS"),
    writes_folder=True,
)
