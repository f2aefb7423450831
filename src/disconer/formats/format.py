"""What a format is: a name, a way to recognise it, a reader and a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.source import Member, Source
from disconer.formats.target import new_file, new_folder, new_path

Reader = Callable[[Source, Ledger], Iterator[Document]]
Writer = Callable[[Iterable[Document], Path, Ledger], None]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to store annotated text.

    name: how users choose it (`--from brat`).
    about: one line for the table of formats. holds: what it can represent, likewise; a writer counts what it cannot.
    suffixes: file names that it may have, for sniffing and for reading folders.
    sniff: whether a file with one of the suffixes has this format, by its name and first bytes.
    read, write: from a `Source`, to a path. `write` makes the whole output or none of it.
    writes_folder: the output path is a folder, not a file.
    is_readable: whether `read` reads anything.
    reads_utf16: `read` converts offsets that count UTF-16 units, if the ledger says that they do.
    lines_stand_alone: a line has all of its document, including its id, so that other lines may be skipped unread.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    sniff: Callable[[str, bytes], bool]
    read: Reader
    write: Writer | None = None
    holds: str = ""
    writes_folder: bool = False
    is_readable: bool = True
    reads_utf16: bool = False
    lines_stand_alone: bool = False


def member_reader(suffixes: tuple[str, ...], read_member: Callable[[Member, Ledger], Iterator[Document]]) -> Reader:
    """A reader for formats in which each file is independent.

    A file that is broken as a whole is one error; what was read of it before is kept.
    """

    def read(source: Source, ledger: Ledger) -> Iterator[Document]:
        for member in source:
            if source.is_single_file or member.suffix in suffixes:
                try:
                    yield from read_member(member, ledger)
                except BadInput as error:
                    ledger.error(error)

    return read


def file_writer(
    suffix: str,
    content: Callable[[Document, Ledger], bytes],
    what: str,
    beside: Mapping[str, bytes] | None = None,
) -> Writer:
    """A writer for formats that have one document per file: a folder of them.

    what: the format, for a message. beside: files that the folder also gets, by name.
    """

    def write(documents: Iterable[Document], path: Path, ledger: Ledger) -> None:
        if path.suffix.lower() == suffix:
            raise DisconerError(
                f"{what} has one document per file and is written as a folder",
                where=Where(str(path)),
                fix="Name a folder.",
            )
        with new_folder(path) as folder:
            for name, data in (beside or {}).items():
                (folder / name).write_bytes(data)
            for document in documents:
                try:
                    new_path(folder, document.id, suffix, ledger).write_bytes(content(document, ledger))
                except BadInput as error:
                    ledger.error(error)

    return write


def stream_writer(write_stream: Callable[[Iterable[Document], BinaryIO, Ledger], None]) -> Writer:
    """A writer for formats that are one file."""

    def write(documents: Iterable[Document], path: Path, ledger: Ledger) -> None:
        with new_file(path) as stream:
            write_stream(documents, stream, ledger)

    return write
