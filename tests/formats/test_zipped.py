from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from disconer import BadInput
from disconer.formats.source import SMALL, Source

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
