"""bigbio's `kb` record: passages, entities with one or more offsets, events, coreferences, relations.

{"id": "0", "document_id": "123", "passages": [{"id": "1", "type": "title", "text": ["…"], "offsets": [[0, 59]]}],
 "entities": [{"id": "3", "type": "Disease", "text": ["…"], "offsets": [[0, 8]],
               "normalized": [{"db_name": "MESH", "db_id": "D009270"}]}],
 "events": [], "coreferences": [], "relations": []}

Offsets count in the passages' texts joined by single spaces; passages stand at their own offsets where these fit
their texts. Entities without offsets are no mentions: they go to `extras["bigbio"]` as "unlocated". There "entities"
holds by id what entities say beyond label and text (`normalized`), "passages" what they say beyond their text, and
all the rest is as it was. The record has no place for scores.
"""

from __future__ import annotations

from collections.abc import Iterator

from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.bigbio.records import from_record, to_record
from disconer.formats.format import Format, member_reader
from disconer.formats.jsonfiles import SUFFIXES, iter_records, json_writer, leading_keys
from disconer.formats.source import Member


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for where, record in iter_records(member, ledger):
        try:
            document = from_record(record, where, ledger)
        except BadInput as error:
            ledger.fault(error)
            continue
        yield document


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "passages" in keys and bool(keys & {"document_id", "entities", "events", "coreferences"})


FORMAT = Format(
    name="bigbio",
    about="bigbio kb records: passages, entities with one or more offsets, events, relations",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=json_writer(to_record),
)
