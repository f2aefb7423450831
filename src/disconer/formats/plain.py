"""Plain text without annotations: a document is a .txt file."""

from __future__ import annotations

from collections.abc import Iterator

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Format, member_reader
from disconer.formats.source import Member

_SUFFIXES = (".txt",)


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    yield Document(member.stem, member.prose())


def _sniff(name: str, head: bytes) -> bool:
    return name.lower().endswith(_SUFFIXES)


FORMAT = Format(
    name="text",
    about="plain text, one document per .txt file",
    holds="text",
    suffixes=_SUFFIXES,
    sniff=_sniff,
    read=member_reader(_SUFFIXES, _read),
)
