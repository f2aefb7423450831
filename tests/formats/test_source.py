"""Files, folders and archives as sources: names, compression, and what must not be let in."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Ledger, read
from disconer.formats import source as source_module
from disconer.formats.archive import SMALL
from disconer.formats.source import MAX_LINE, Source, split_sources

LINE = '{"id": "d", "text": "some pain", "entities": []}\n'


def names(source: Source) -> list[str]:
    return [member.name for member in source]


def make_zip(path: Path, *members: str, content: str = LINE) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, content)
    return path


def test_a_folder_gives_its_files_by_name_and_no_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt.gz", ".hidden", ".git/config", "a/.DS_Store", "__pycache__/m.pyc"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(b"c") if name.endswith(".gz") else b"x")
    source = Source(tmp_path)
    assert names(source) == ["a/b/c.txt", "a/z.txt", "b.txt"]
    assert not source.is_single_file
    first = source.members[0]
    assert (first.suffix, first.stem, first.text()) == (".txt", "a/b/c", "c")


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").touch()
    (tmp_path / "in" / "round").symlink_to(tmp_path / "in")
    assert names(Source(tmp_path / "in")) == ["a.txt"]


@pytest.mark.parametrize("compress", [None, gzip.compress, lzma.compress])
def test_a_file_plain_or_compressed(tmp_path: Path, compress: object) -> None:
    path = tmp_path / ("a.jsonl" + {None: "", gzip.compress: ".gz", lzma.compress: ".xz"}[compress])
    path.write_bytes(compress(LINE.encode()) if compress else LINE.encode())
    source = Source(path)
    assert names(source) == ["a.jsonl"]
    assert source.is_single_file
    assert list(source.members[0].lines()) == [(1, LINE.rstrip())]
    assert [document.id for document in read(path)] == ["d"]


def test_an_archive_gives_its_files_and_compressed_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/b.jsonl.gz", gzip.compress(LINE.encode()))
        archive.writestr("x/a.txt", "text")
        archive.writestr("__MACOSX/x/a.txt", "junk")
        archive.writestr("x/.hidden", "junk")
    assert names(Source(path)) == ["x/a.txt", "x/b.jsonl"]
    assert [document.id for document in read(path)] == ["d"]


@pytest.mark.parametrize("name", ["../evil.jsonl", "/etc/evil.jsonl", "a/../../evil.jsonl", "..\\evil.jsonl"])
def test_an_archive_whose_members_climb_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"has a path outside of it.*evil") as caught:
        Source(make_zip(tmp_path / "a.zip", "good.jsonl", name))
    assert caught.value.problem == "unsafe-path"


def test_an_archive_with_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("link.jsonl")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadInput, match="has a path outside of it"):
        Source(path)


def test_a_broken_archive_is_said_to_be_one(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", "a.jsonl")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadInput, match=r"\.zip file is damaged"):
        Source(path)


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", "a.jsonl", "b.jsonl")
    data = bytearray(path.read_bytes())
    data[data.index(b"some pain")] ^= 1  # its checksum no longer fits
    path.write_bytes(data)
    ledger = Ledger(skip_bad=True)
    list(read(path, "jsonl", ledger))
    assert ledger.errors["unreadable-file"] == 1
    assert f"{path}:a.jsonl" in str(ledger.examples[0])


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-12], lambda data: data[:20] + b"\xff\xff" + data[22:], lambda _: b"x"]
)
def test_a_broken_gzip_is_an_error_that_names_the_file(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(damage(gzip.compress((LINE * 50).encode())))
    with pytest.raises(BadInput) as caught:
        Source(path).members[0].read()
    assert caught.value.problem == "unreadable-file"
    assert str(path) in str(caught.value)


def test_what_is_not_there_or_may_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no such file"):
        Source(tmp_path / "nowhere")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    (member,) = Source(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        member.read()


def test_text_is_neither_stripped_nor_translated(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffa\r\nb\u2028\r".encode())
    (member,) = Source(tmp_path)
    assert member.text() == "\ufeffa\r\nb\u2028\r"
    assert [line for _, line in member.lines()] == ["\ufeffa", "b\u2028"]


def test_broken_utf8_is_named_by_line_and_byte(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ok\nna\xefve")
    (member,) = Source(tmp_path)
    with pytest.raises(BadInput, match=r"line 2: This is not UTF-8\. Got byte 0xef at byte 5") as caught:
        member.text()
    assert caught.value.problem == "bad-encoding"


@pytest.mark.parametrize(
    ("encoding", "advice"), [("utf-16", "iconv -f utf-16 -t utf-8"), ("latin-1", "iconv -f windows-1252 -t utf-8")]
)
def test_other_encodings_get_the_command_that_converts_them(tmp_path: Path, encoding: str, advice: str) -> None:
    (tmp_path / "a.txt").write_bytes("naïve".encode(encoding))
    (member,) = Source(tmp_path)
    with pytest.raises(BadInput, match="skip such input with --skip-bad") as caught:
        member.text()
    assert advice in str(caught.value)


def test_a_name_that_is_too_long_is_no_path() -> None:
    with pytest.raises(DisconerError, match="There is no such file or folder"):
        Source("nausea " * 100)


def test_only_some_members(tmp_path: Path) -> None:
    source = Source(make_zip(tmp_path / "a.zip", "a.jsonl", "b.jsonl"))
    part = source.only(member for member in source if member.name.startswith("b"))
    assert (names(part), names(source)) == (["b.jsonl"], ["a.jsonl", "b.jsonl"])


def test_the_line_after_which_it_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "MAX_LINE", 10)
    path = tmp_path / "a.txt"
    path.write_text("123456789\n" + "1234567890\n")
    lines = Source(path).members[0].lines()
    assert next(lines) == (1, "123456789")
    with pytest.raises(BadInput, match="line 2") as caught:
        next(lines)
    assert caught.value.problem == "line-too-long"


def test_a_gigabyte_without_a_line_break_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    os.truncate(path, 2**30)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="more than 64 MiB without a line break"):
            list(read(path, "jsonl"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * MAX_LINE


# Splits


@pytest.mark.parametrize(
    ("files", "splits"),
    [
        (["train.jsonl", "dev.jsonl.gz", "test.jsonl"], {"train": 1, "dev": 1, "test": 1}),
        (["train/a.txt", "train/a.ann", "valid/x/b.txt"], {"train": 2, "valid": 1}),
        (["phee/train/a.txt", "phee/test/b.txt"], {"train": 1, "test": 1}),
        (["Train.json", "TEST.json", "README.md", "more/a.json"], {"train": 1, "test": 1, "other": 2}),
        (["train.jsonl", "other.jsonl"], {}),
        (["test_1.txt", "train_1.txt"], {}),
        (["a/b.txt"], {}),
        ([], {}),
    ],
)
def test_splits_by_the_names_of_files_and_folders(tmp_path: Path, files: list[str], splits: dict[str, int]) -> None:
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = split_sources(Source(tmp_path))
    assert {name: len(part.members) for name, part in found.items()} == splits
    assert list(found) == list(splits)


# Zipped


CONTENTS = {"a.txt": b"pain " * 300, "b.txt": b"", "c.txt": "é".encode() * SMALL, "d/e.txt": bytes(range(256))}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_large_and_small_read_as_they_are(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"#!/bin/sh, as in archives that unpack themselves\n")
    with zipfile.ZipFile(path, "a", method) as archive:
        for name, content in CONTENTS.items():
            archive.writestr(name, content)
    source = Source(path)
    assert {member.name: member.read() for member in source} == CONTENTS
    large = next(member for member in source if member.name == "c.txt")
    with large.open() as stream:  # small members that are read between do not disturb a stream
        first = stream.read(1000)
        assert next(member.read() for member in source if member.name != "c.txt") == CONTENTS["a.txt"]
        assert first + stream.read() == CONTENTS["c.txt"]


def test_damage_is_said_with_the_member(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", CONTENTS["a.txt"])
    path.write_bytes(path.read_bytes().replace(b"pain pain", b"pain rain", 1))
    (member,) = Source(path)
    with pytest.raises(BadInput, match=r"a\.zip:a\.txt: This file cannot be read completely.*CRC"):
        member.read()
