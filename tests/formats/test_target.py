"""Where documents are written: whole or not at all, a full disk is reported, and devices are no place to write to."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from disconer import DisconerError, Document, Entity, write
from disconer.formats import all_formats
from disconer.formats.target import new_file, new_folder

TEXT = "".join(random.Random(1).choices("abc ", k=2**18)).strip()  # also longer than the small disk if it is compressed


@pytest.mark.parametrize("name", [*(one.name for one in all_formats() if one.write), "jsonl.gz"])
def test_a_full_disk_is_reported_with_the_name_of_the_output(tmp_path: Path, small_disk: int, name: str) -> None:
    out = tmp_path / f"out.{name}"
    with pytest.raises(DisconerError) as raised:
        write([Document("a", TEXT, (Entity("ADR", ((0, len(TEXT)),)),))], out, name.removesuffix(".gz"))
    assert str(raised.value).startswith(
        f"{out}: This file could not be written: the disk is full, or a quota is reached."
    )
    assert "Free some space" in str(raised.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/full", "/dev/fd/1", "pipe"])
@pytest.mark.parametrize("force", [False, True])
def test_devices_and_pipes_are_never_replaced(
    path: str, force: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary name must not even be made: root could replace /dev/null."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: pytest.fail("a file was made"))
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: pytest.fail("a folder was made"))
    os.mkfifo("pipe")
    for attempt in (
        lambda: write([Document("a", "b")], path, "jsonl", force=force),
        lambda: new_file(Path(path)).__enter__(),
        lambda: new_folder(Path(path)).__enter__(),
    ):
        with pytest.raises(DisconerError, match=r"device or pipe\. Name a file or folder"):
            attempt()
