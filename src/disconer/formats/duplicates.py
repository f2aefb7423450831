"""Of several documents with one id, the first; the others are errors, which say where the two come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Format
from disconer.formats.seen_ids import SeenIds
from disconer.formats.source import Member, Source

_SAME = "Two documents have the same id"


def read_unique(format: Format, source: Source, ledger: Ledger) -> Iterator[Document]:
    """The documents of a source, each id once."""
    opened = _Opened(source)
    return _first_of_each(format.read(source.noting(opened.note), ledger), opened, source, ledger)


class _Opened:
    """The files of a source, and the number of the one that was opened last: a document read now comes from it."""

    def __init__(self, source: Source) -> None:
        self.files = [member.origin for member in source]
        self.last = 0
        self._numbers = {member.name: number for number, member in enumerate(source)}

    def note(self, member: Member) -> None:
        self.last = self._numbers[member.name]


def _first_of_each(
    documents: Iterable[Document], opened: _Opened, source: Source, ledger: Ledger
) -> Iterator[Document]:
    seen = SeenIds()
    for document in documents:
        if seen.add(document.id, opened.last):
            yield document
            continue
        first, second = opened.files[seen.place(document.id)], opened.files[opened.last]
        fix = "Rename one of them."
        if not source.is_single_file:
            fix += " Annotations of the same documents by several people are read one by one: `disconer agree A B`."
        got = f"another one in {first}" if first != second else None
        ledger.error(BadInput("duplicate-id", _SAME, where=Where(second, document=document.id), got=got, fix=fix))


def unique(documents: Iterable[Document], ledger: Ledger) -> Iterator[Document]:
    """Documents to be written, each id once: they could not be read again."""
    seen = SeenIds()
    for document in documents:
        if seen.add(document.id):
            yield document
        else:
            what, where = "Two of the documents to be written have the same id", Where(document=document.id)
            fix = "Give each its own: document.replace(id=…), ner(text, id=…) or ner.pipe(texts, ids=…)."
            ledger.error(BadInput("duplicate-id", what, where=where, fix=fix))
