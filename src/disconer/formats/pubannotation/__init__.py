"""PubAnnotation JSON: a text and its denotations, relations and attributes, in one track or several.

{"sourcedb": "PubMed", "sourceid": "123", "text": "…",
 "denotations": [{"id": "T1", "span": [{"begin": 0, "end": 4}, {"begin": 9, "end": 12}], "obj": "Disease"}],
 "relations": [{"id": "R1", "subj": "T1", "pred": "…", "obj": "T2"}], "attributes": […], "tracks": […]}

A document is named sourcedb-sourceid-divid, by those that are there, or after its file. Discontinuous mentions are
read as bags of spans or as chains, and written as bags. A score is an attribute "score". The denotations of a track
get the name of its project before their ids. The rest goes to `extras["pubannotation"]` as it is; there
"denotations" holds by id what denotations say beyond span and obj.

A path without a suffix becomes a folder of files, one a document, as PubAnnotation takes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Format, member_reader
from disconer.formats.jsonfiles import SUFFIXES, dump_json, iter_records, json_writer, leading_keys
from disconer.formats.pubannotation.records import NAME, from_record, to_record
from disconer.formats.source import Member
from disconer.formats.target import new_folder, path_within


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, (where, record) in enumerate(iter_records(member, ledger), 1):
        name = member.stem if number == 1 else f"{member.stem}-{number}"
        try:
            document = from_record(record, name, where, ledger)
        except BadInput as error:
            ledger.fault(error)
            continue
        yield document


_write_file = json_writer(to_record)


def _write(documents: Iterable[Document], path: Path, ledger: Ledger) -> None:
    if path.suffix:
        _write_file(documents, path, ledger)
        return
    with new_folder(path) as folder:
        for document in documents:
            path_within(folder, document.id, ".json").write_bytes(dump_json(to_record(document, ledger)) + b"\n")


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "denotations" in keys or ("text" in keys and bool(keys & {"tracks", "sourceid", "sourcedb"}))


FORMAT = Format(
    name=NAME,
    about="PubAnnotation JSON: denotations with one or more spans, relations, attributes, tracks",
    holds="all entities with scores, relations, attributes",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=_write,
)
