"""Files and folders at a URL (s3://…, gs://…, hdfs://…, file://…), through fsspec and its packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import basename, splitext
from typing import Any, BinaryIO, cast

from disconer.core.errors import DisconerError, Where
from disconer.formats.source import COMPRESSED, Member, Source

_URL = re.compile(r"[a-z][a-z0-9+.-]+://|.*::")


def is_url(path: str) -> bool:
    """Whether a path is a URL.

    >>> is_url("s3://bucket/notes.jsonl"), is_url("zip://::notes.zip"), is_url("notes/a.txt")
    (True, True, False)
    """
    return _URL.match(path) is not None


def open_source(path: str) -> Source:
    """The members of a path or URL."""
    return RemoteSource(path) if is_url(path) else Source(path)


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL or path, and the path there."""
    try:
        from fsspec.core import url_to_fs

        with reaching(url):
            fs, path = url_to_fs(url)
    except ImportError as error:
        raise DisconerError("A package is missing to access this URL", where=Where(url), got=str(error)) from error
    except ValueError as error:
        raise DisconerError(
            "fsspec does not support this URL", where=Where(url), got=str(error), fix="Check its scheme."
        ) from error
    return fs, str(path)


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Errors of reaching a URL as messages for users: each file system has its own exceptions."""
    try:
        yield
    except (DisconerError, ImportError, ValueError, FileNotFoundError):
        raise
    except Exception as error:
        raise DisconerError(
            "This URL cannot be accessed",
            where=Where(url),
            got=f"{type(error).__name__}: {error}",
            fix="Check the URL, the network, and that credentials are where its fsspec package looks for them.",
        ) from error


class RemoteSource(Source):
    """The members of a URL, which is a file or a folder, in the order of their names."""

    def __init__(self, url: str) -> None:
        self._url = url
        fs, root = file_system(url)
        self.path = Path(root)
        try:
            with reaching(url):
                self._is_file = bool(fs.isfile(root))
                found = {root: fs.info(root)} if self._is_file else fs.find(root, detail=True)
        except FileNotFoundError:
            found = {}
        if not found:
            raise DisconerError("There is no such file or folder", where=Where(url), fix="Check the URL.")
        names = {path: basename(path) if self._is_file else path.removeprefix(root).strip("/") for path in found}
        members = [
            _member(fs, path, name, int(found[path].get("size") or 0))
            for path, name in names.items()
            if "/." not in f"/{name}"
        ]
        self.members = tuple(sorted(members, key=lambda member: member.name))

    def __str__(self) -> str:
        return self._url

    @property
    def is_single_file(self) -> bool:
        return self._is_file


def _member(fs: Any, path: str, name: str, size: int) -> Member:
    stem, suffix = splitext(name)
    origin = str(fs.unstrip_protocol(path))
    if suffix.lower() in COMPRESSED:
        opener = COMPRESSED[suffix.lower()]
        return Member(stem, origin, lambda: cast(BinaryIO, opener(fs.open(path, "rb"), "rb")), lambda: size)
    return Member(name, origin, lambda: cast(BinaryIO, fs.open(path, "rb")), lambda: size)
