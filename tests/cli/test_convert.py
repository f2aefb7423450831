"""What `convert` gives a brat folder beside its documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated import annotated
from disconer import DisconerError, read, write
from disconer.cli.convert import convert

CONF = b"[entities]\r\n!Finding\r\n\tADR # side effects\r\n[attributes]\r\nNegated Arg:ADR\xe9\r\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write([annotated("ADR: pain … hands", "Drug: itching", id="a"), annotated(id="sub/b")], tmp_path / "notes", "brat")
    return tmp_path / "notes"


def test_a_brat_folder_keeps_its_configuration(notes: Path, tmp_path: Path) -> None:
    (notes / "annotation.conf").write_bytes(CONF)
    (notes / "visual.conf").write_bytes(b"[labels]\n")
    (notes / "sub" / "annotation.conf").write_bytes(b"[entities]\n")
    convert(notes, tmp_path / "copy")
    copied = {path.relative_to(tmp_path / "copy"): path.read_bytes() for path in (tmp_path / "copy").rglob("*.*")}
    assert copied == {path.relative_to(notes): path.read_bytes() for path in notes.rglob("*.*")}


def test_a_new_one_can_be_opened_in_brat(notes: Path, tmp_path: Path) -> None:
    write(read(notes), tmp_path / "notes.jsonl")
    convert(tmp_path / "notes.jsonl", tmp_path / "made")
    assert (tmp_path / "made" / "annotation.conf").read_text().startswith("[entities]\nADR\nDrug\n\n[relations]\n")
    assert [document.id for document in read(tmp_path / "made")] == ["a", "sub/b"]
    with pytest.raises(DisconerError, match="already exists"):
        convert(tmp_path / "notes.jsonl", tmp_path / "made")


def test_an_error_leaves_nothing(notes: Path, tmp_path: Path) -> None:
    (notes / "sub" / "b.ann").write_text("T1\tADR 0 999\tx\n")
    with pytest.raises(DisconerError, match="ends past the end"):
        convert(notes, tmp_path / "made")
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
