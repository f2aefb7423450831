"""Archives that are unusual, damaged or made to mislead: errors of ours, and never other documents."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Ledger, read
from disconer.formats.source import Source

LOCAL, CENTRAL = b"PK\3\4", b"PK\1\2"


def brat_zip(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a", "b"):
            archive.writestr(f"{name}.txt", f"severe pain {name} " * 4)
            archive.writestr(f"{name}.ann", "T1\tADR 0 6\tsevere\n")
    return path.read_bytes()


def changed(content: bytes, header: bytes, offset: int, value: int) -> bytes:
    place = content.index(header) + offset
    return content[:place] + bytes([value]) + content[place + 1 :]


@pytest.mark.parametrize(
    ("offset", "value", "said"),
    [(10, 99, "compression"), (6, 255, "version"), (8, 1, "encrypted"), (46, ord("b"), "same name")],
)
def test_members_that_cannot_be_read_are_errors_that_say_why(
    tmp_path: Path, offset: int, value: int, said: str
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(changed(brat_zip(path), CENTRAL, offset, value))
    with pytest.raises(BadInput, match=rf"(?s)a\.zip.*{said}"):
        list(read(path, "brat"))


def test_names_that_cannot_be_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    content = brat_zip(path)
    utf8 = changed(content, CENTRAL, 9, 0x08)
    path.write_bytes(changed(utf8, CENTRAL, 46, 0xFF))
    with pytest.raises(BadInput, match="damaged, incomplete, or of a kind"):
        Source(path)


def test_a_member_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("x"), "text")
        archive.infolist()[0].filename = ""
    with pytest.raises(BadInput, match="has no name"):
        Source(path)


def test_every_changed_byte_is_an_error_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    content = brat_zip(path)
    before = {document.id: document for document in read(path, "brat")}
    assert before.keys() == {"a", "b"}
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x13]) + content[place + 1 :])
        ledger = Ledger(skip_bad=True)
        try:
            after = {document.id: document for document in read(path, "brat", ledger)}
        except DisconerError:
            continue
        assert after.items() <= before.items(), place
        assert after == before or ledger.errors, place
