"""Where documents come from: a file, a folder or a .zip, compressed or not, as a sequence of named files (members)."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
import zipfile
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from posixpath import splitext
from typing import Any, BinaryIO, cast

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.formats.archive import open_member, zip_members

MAX_LINE = 64 * 2**20  # bytes; a longer line means a damaged or wrong file
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_STANDOFF = (".ann", ".a1", ".a2", ".txt")  # a text and its annotations: naming one of them means all
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a source.

    name: its path within the source, without the suffix of compression. origin: its name in messages.
    takes: which of its lines, as they are stored, `lines` yields; None: all.
    """

    name: str
    origin: str
    _open: Callable[[], BinaryIO]
    _size: Callable[[], int]
    takes: Callable[[bytes], bool] | None = None

    @property
    def size(self) -> int:
        """Its bytes where it is stored, before a .gz or .xz is unpacked."""
        return self._size()

    @property
    def suffix(self) -> str:
        return splitext(self.name)[1].lower()

    @property
    def stem(self) -> str:
        """The name without its suffix, folders included: what documents are called after."""
        return splitext(self.name)[0]

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The member's bytes, decompressed. Errors while reading name the member."""
        try:
            with self._open() as stream:
                yield stream
        except _BROKEN as error:
            raise BadInput(
                "unreadable-file",
                "This file cannot be read completely",
                where=Where(self.origin),
                got=str(error) or type(error).__name__,
                fix="Check its permissions, and that it was copied or downloaded completely.",
            ) from error

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()

    def holding(self, content: bytes) -> Member:
        """The member with its content, which has been read and is not read again."""
        return replace(self, _open=partial(BytesIO, content))

    def noting(self, note: Callable[[Member], None]) -> Member:
        """The member, which tells `note` whenever it is opened."""

        def open_noted() -> BinaryIO:
            note(self)
            return self._open()

        return replace(self, _open=open_noted)

    def text(self) -> str:
        return decode(self.read(), self.origin)

    def prose(self) -> str:
        """The text of a file that was written or annotated by hand: none of its lines is longer than MAX_LINE."""
        data = self.read()
        if len(data) > MAX_LINE:
            for number, line in enumerate(data.split(b"\n"), 1):
                self._refuse_long(line, number)
        return decode(data, self.origin)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Lines with their numbers, from 1, without line ends; a line longer than MAX_LINE is an error."""
        with self.open() as stream:
            number = 0
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                self._refuse_long(line, number)
                if self.takes is None or self.takes(line):
                    yield number, decode(line, self.origin, number).rstrip("\r\n")

    def _refuse_long(self, line: bytes, number: int) -> None:
        if len(line) > MAX_LINE:
            raise BadInput(
                "line-too-long",
                "This line is too long to be a document",
                where=Where(self.origin, number),
                got=f"more than {MAX_LINE // 2**20} MiB without a line break",
                fix="Check that the file is what its name says, or split the document.",
            )

    def head(self, size: int = 2**16) -> bytes:
        with self.open() as stream:
            return stream.read(size)


def decode(data: bytes, origin: str, line: int | None = None) -> str:
    """UTF-8 to text, nothing stripped or translated: a BOM and CR LF keep their offsets."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            "bad-encoding",
            "This is not UTF-8",
            where=Where(origin, line or data.count(b"\n", 0, error.start) + 1),
            got=f"byte 0x{data[error.start]:02x} at byte {error.start}" + (" of the line" if line else ""),
            expected="UTF-8 text",
            fix=f"Convert the file ({_conversion(data)}), or skip such input with --skip-bad.",
        ) from error


def _conversion(data: bytes) -> str:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "iconv -f utf-16 -t utf-8: it starts like UTF-16"
    return "iconv -f windows-1252 -t utf-8, if it is from Windows or Latin-1"


class Source:
    """The members of a path, in the order of their names. Hidden files and folders are skipped."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not os.path.exists(path):  # unlike Path.exists, also for what is too long for a name
            raise DisconerError("There is no such file or folder", where=Where(str(path)), fix="Check the path.")
        if self.path.is_dir():
            found = list(_folder_members(str(self.path)))
        elif self.path.suffix.lower() == ".zip":
            found = [
                _zip_member(archive, info, name, f"{path}:{name}") for archive, info, name in zip_members(self.path)
            ]
        else:
            found = [_file_member(str(path), path.name) for path in _with_partners(self.path)]
        self.members: tuple[Member, ...] = tuple(sorted(found, key=lambda member: member.name))
        self._refuse_doubles()

    def _refuse_doubles(self) -> None:
        """Of two files with one name, as in a damaged archive, one would replace the other unseen."""
        for one, other in pairwise(self.members):
            if one.name == other.name:
                raise BadInput(
                    "duplicate-name",
                    "Two files have the same name",
                    where=Where(str(self.path)),
                    got=f"{one.origin} and {other.origin}",
                    fix="Keep one of them; a compressed copy counts as the same file.",
                )

    def __str__(self) -> str:
        """The path as the user gave it."""
        return str(self.path)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def only(self, members: Iterable[Member]) -> Source:
        """The same source with some of its members."""
        part = copy(self)
        part.members = tuple(members)
        return part

    def noting(self, note: Callable[[Member], None]) -> Source:
        """The same source, whose members tell `note` when they are opened."""
        return self.only(member.noting(note) for member in self.members)

    @property
    def is_single_file(self) -> bool:
        """The path is a single file, so that its suffix does not matter."""
        return self.path.is_file() and self.path.suffix.lower() != ".zip" and len(self.members) == 1


def _with_partners(path: Path) -> list[Path]:
    if path.suffix.lower() not in _STANDOFF:
        return [path]
    others = [path.with_suffix(suffix) for suffix in _STANDOFF if suffix != path.suffix.lower()]
    return [path, *(other for other in others if other.is_file())]


def _file_member(path: str, name: str) -> Member:
    stem, suffix = splitext(name)
    if suffix.lower() in COMPRESSED:
        opener = COMPRESSED[suffix.lower()]
        return Member(stem, path, lambda: cast(BinaryIO, opener(path, "rb")), lambda: os.path.getsize(path))
    return Member(name, path, lambda: open(path, "rb"), lambda: os.path.getsize(path))


def _folder_members(root: str) -> Iterator[Member]:
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        below = "" if folder == root else folder[len(root) :].strip(os.sep).replace(os.sep, "/") + "/"
        for name in files:
            if not name.startswith("."):
                yield _file_member(os.path.join(folder, name), below + name)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, origin: str) -> Member:
    stem, suffix = splitext(name)
    if suffix.lower() in COMPRESSED:
        opener = COMPRESSED[suffix.lower()]
        return Member(
            stem, origin, lambda: cast(BinaryIO, opener(open_member(archive, info), "rb")), lambda: info.file_size
        )
    return Member(name, origin, lambda: open_member(archive, info), lambda: info.file_size)


# Their usual names, in the order in which they are shown.
SPLITS = ("train", "training", "dev", "devel", "development", "val", "valid", "validation", "test", "testing")
REST = "other"


def split_sources(source: Source) -> dict[str, Source]:
    """The parts of a source by split: train.jsonl, or all files below train/.

    Files without a split come last, as `other`. Empty with fewer than two splits.
    """
    members: dict[str, list[Member]] = {}
    top = _common_folder(source)
    for member in source:
        name = member.name.removeprefix(top).split("/")[0].split(".")[0].lower()
        members.setdefault(name if name in SPLITS else REST, []).append(member)
    found = [name for name in (*SPLITS, REST) if name in members]
    if len([name for name in found if name != REST]) < 2:
        return {}
    return {name: source.only(members[name]) for name in found}


def _common_folder(source: Source) -> str:
    """The folder, with its slash, that all members lie in; archives often have one."""
    firsts = {member.name.partition("/")[::2] for member in source} if source.members else set()
    folders = {folder for folder, below in firsts}
    lone = len(folders) == 1 and all(below for _, below in firsts)
    return f"{folders.pop()}/" if lone else ""
