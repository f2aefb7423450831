"""Places that are named by a URL."""

from __future__ import annotations

import gzip
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="needs fsspec: pip install 'disconer[ray]'")

from fsspec.implementations.memory import MemoryFileSystem

from disconer import BadInput, DisconerError, Document, read
from disconer.formats.remote import RemoteSource, is_url, open_source
from disconer.formats.source import Source
from disconer.predict.inputs import units

LINE = b'{"id": "d", "text": "some pain"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "below/c.txt", ".hidden.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}")
    return tmp_path


def test_a_folder_is_the_same_by_its_url(folder: Path) -> None:
    here, there = Source(folder), open_source(f"file://{folder}")
    assert isinstance(there, RemoteSource)
    assert [(one.name, one.size) for one in there] == [(one.name, one.size) for one in here]
    assert list(read(there)) == list(read(here))
    assert [unit.name for unit in units(there)] == ["a", "b", "below/c"]
    assert not there.is_single_file


def test_one_file_and_a_compressed_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(LINE))
    for name in ("a.jsonl", "b.jsonl.gz"):
        source = open_source(f"file://{tmp_path}/{name}")
        assert source.is_single_file
        assert str(source) == f"file://{tmp_path}/{name}"
        assert list(read(source)) == [Document("d", "some pain")]


def test_memory_and_archives(tmp_path: Path) -> None:
    MemoryFileSystem().pipe_file("/test_remote/a.jsonl", LINE)
    assert list(read(open_source("memory://test_remote"))) == [Document("d", "some pain")]
    with zipfile.ZipFile(tmp_path / "notes.zip", "w") as archive:
        archive.writestr("notes/a.txt", "some pain")
    assert list(read(open_source(f"zip://::{tmp_path}/notes.zip"))) == [Document("notes/a", "some pain")]


def test_errors_name_the_url(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{broken\n")
    with pytest.raises(BadInput, match=rf"file://{tmp_path}/a.jsonl, line 1: This is not JSON"):
        list(read(open_source(f"file://{tmp_path}/a.jsonl"), "jsonl"))
    with pytest.raises(DisconerError, match=r"file:///no/where: There is no such file or folder"):
        open_source("file:///no/where")
    with pytest.raises(DisconerError, match="nix://a: fsspec does not support this URL"):
        open_source("nix://a")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = {"class": "no_such_package.FileSystem", "err": "Install s9fs to access S9"}
    monkeypatch.setitem(import_module("fsspec.registry").known_implementations, "s9", kind)
    with pytest.raises(DisconerError, match=r"A package is missing to access this URL. Got Install s9fs to access S9"):
        open_source("s9://bucket/notes.jsonl")


def test_a_place_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, path: str) -> bool:
        raise PermissionError("no credentials")

    monkeypatch.setattr(MemoryFileSystem, "isfile", refuse)
    with pytest.raises(DisconerError, match=r"memory://x: This URL cannot be accessed. Got PermissionError: no cred"):
        open_source("memory://x")


def test_what_is_a_url() -> None:
    assert all(map(is_url, ["s3://b/a", "file:///a", "zip://::a.zip", "abfs://c@d/e"]))
    assert not any(map(is_url, ["notes", "/a/b.txt", "C:\\notes", "a:b", "-"]))
