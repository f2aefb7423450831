"""What people download: folders, archives, and archives in archives, seen as named members."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.formats.source import Member, Source

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_MAX_DEPTH = 3  # archives within archives; no distribution goes deeper
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError)


def files_of(path: Path, wanted: Callable[[str], bool]) -> list[Member]:
    """The wanted files of a folder or an archive, and of the archives in it, whose names become folders."""
    return [found for member in Source(path) for found in _expand(member, wanted, 0)]


def _expand(member: Member, wanted: Callable[[str], bool], depth: int) -> Iterator[Member]:
    if depth < _MAX_DEPTH and member.name.lower().endswith(_ARCHIVES):
        try:
            for inner in _inner(member, wanted):
                yield from _expand(inner, wanted, depth + 1)
        except _BROKEN as error:
            raise BadInput(
                "unreadable-file",
                "This archive is damaged or incomplete",
                where=Where(member.origin),
                got=str(error) or type(error).__name__,
                fix="Copy or download it again.",
            ) from error
    elif wanted(member.name):
        yield member


def _inner(archive: Member, wanted: Callable[[str], bool]) -> Iterator[Member]:
    """The files of an archive that are wanted or archives themselves, read at once: a tar has no way back."""
    content = BytesIO(archive.read())
    if archive.suffix == ".zip":
        with zipfile.ZipFile(content) as packed:
            for info in packed.infolist():
                if not info.is_dir() and _is_asked_for(_name_in(archive, info.filename), wanted):
                    yield _loaded(archive, info.filename, packed.read(info))
    else:
        with tarfile.open(fileobj=content) as tar:
            for entry in tar:
                asked_for = entry.isfile() and _is_asked_for(_name_in(archive, entry.name), wanted)
                stream = tar.extractfile(entry) if asked_for else None
                if stream is not None:
                    yield _loaded(archive, entry.name, stream.read())


def _name_in(archive: Member, name: str) -> str:
    return f"{archive.name}/{PurePosixPath(name)}"


def _is_asked_for(name: str, wanted: Callable[[str], bool]) -> bool:
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)
    return not hidden and (wanted(name) or name.lower().endswith(_ARCHIVES))


def _loaded(archive: Member, name: str, data: bytes) -> Member:
    def open_again() -> BinaryIO:
        return BytesIO(data)

    return Member(_name_in(archive, name), f"{archive.origin}:{name}", open_again, lambda: len(data))


def unix_text(member: Member) -> str:
    """The text with line feeds for all line ends, as the tools saw it that counted the offsets of these corpora."""
    return member.text().replace("\r\n", "\n").replace("\r", "\n")


def not_the_source(path: Path, what: str, source: str) -> DisconerError:
    """The error for a SOURCE that is not what a recipe needs."""
    return DisconerError(what, where=Where(str(path)), expected=source, fix="Check SOURCE: the folder or archive.")


def missing_document(path: Path, document: str, what: str, source: str) -> BadInput:
    """The fault for a document of a split that SOURCE lacks, or lacks a part of."""
    return BadInput(
        "missing-file",
        what,
        where=Where(str(path), document=document),
        expected=source,
        fix="Check that the distribution is complete, or skip such documents with --skip-bad.",
    )
