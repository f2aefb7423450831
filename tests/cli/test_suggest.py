from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotated import TEXT, annotated
from disconer import DisconerError, Document, Entity, Ledger, read
from disconer.cli import app
from disconer.cli.suggest import suggest
from disconer.core.errors import DisconerWarning
from disconer.formats.brat.suggestions import Suggested

FOUND = annotated("ADR: pain … hands", "ADR: itching", "Drug: itching", "Arm: left … arm", "ADR: severe pain in knees")


class Finder:
    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            assert not document.entities
            entities = [Entity(one.label, one.fragments, f"P{n}", 0.75) for n, one in enumerate(FOUND.entities)]
            yield document.replace(entities=tuple(entities) if document.text == TEXT else ())


OWN = (
    b"T7\tADR 7 11;25 30\tpain hands\r\n"
    b"R1\tx Arg1:T7 Arg2:T3\r\n"
    b"T3\tADR 36 43\titching\r\n"
    b"#4\tAnnotatorNotes T3\tsure"  # no line break at the end
)
LABELS = ["ADR", "Arm", "Drug"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_bytes(TEXT.encode())
    (tmp_path / "in" / "a.ann").write_bytes(OWN)
    (tmp_path / "in" / "sub" / "new.txt").write_bytes(TEXT.encode())
    (tmp_path / "in" / "other.txt").write_bytes(b"Nothing\r\n")
    (tmp_path / "in" / "annotation.conf").write_text(
        "[entities]\n!Thing\n\tADR\n\n[relations]\nx\tArg1:ADR, Arg2:ADR\n"
    )
    (tmp_path / "in" / "visual.conf").write_text("[labels]\n")
    return tmp_path / "in"


def test_files_that_are_no_texts_are_said_to_be_left_out(folder: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        suggest(folder, tmp_path / "first", Finder(), LABELS)
    (folder / "c.docx").write_bytes(b"")
    with pytest.warns(DisconerWarning, match=r"not read in .*: 1 \.docx; save texts as plain text"):
        suggest(folder, tmp_path / "second", Finder(), LABELS)


def test_own_lines_stay_and_suggestions_follow(folder: Path, tmp_path: Path) -> None:
    ledger = Ledger()
    counts = suggest(folder, tmp_path / "out", Finder(), LABELS, ledger=ledger)
    assert counts == Suggested(added=6, equal=2, conflicting=2)
    written = (tmp_path / "out" / "a.ann").read_bytes()
    assert written.startswith(OWN)
    # itching as a drug has the place of another label, pain in knees shares text with one of its own: left out.
    assert written[len(OWN) :] == b"\r\nT8\tArm 47 51;62 65\tleft arm"
    new = (tmp_path / "out" / "sub" / "new.ann").read_text("utf-8")
    assert new.splitlines()[0] == "T1\tADR 7 11;25 30\tpain hands"
    assert len(new.splitlines()) == 5
    assert (tmp_path / "out" / "other.txt").read_bytes() == b"Nothing\r\n"
    assert (tmp_path / "out" / "other.ann").read_bytes() == b""
    assert not ledger.losses
    assert len(list(read(tmp_path / "out"))) == 3


def test_scores_are_notes_and_conflicts_are_added_on_request(folder: Path, tmp_path: Path) -> None:
    counts = suggest(folder, tmp_path / "out", Finder(), LABELS, scores=True, conflicting=True)
    assert counts == Suggested(added=8, equal=2, conflicting=2)
    written = (tmp_path / "out" / "a.ann").read_bytes()
    assert written.startswith(OWN)
    lines = written[len(OWN) :].decode().split("\r\n")
    assert [line.split("\t")[0] for line in lines[1:]] == ["T8", "T9", "T10", "#5", "#6", "#7"]
    assert lines[4:] == [f"#{n}\tAnnotatorNotes T{n + 3}\tscore 0.75" for n in (5, 6, 7)]
    (document,) = (one for one in read(tmp_path / "out") if one.id == "a")
    assert len(document.entities) == 5


def test_configuration_is_copied_and_extended(folder: Path, tmp_path: Path) -> None:
    suggest(folder, tmp_path / "out", Finder(), LABELS)
    expected = "[entities]\n!Thing\n\tADR\nArm\nDrug\n\n[relations]\nx\tArg1:ADR, Arg2:ADR\n"
    assert (tmp_path / "out" / "annotation.conf").read_text() == expected
    assert (tmp_path / "out" / "visual.conf").read_text() == "[labels]\n"
    (folder / "annotation.conf").unlink()
    suggest(folder, tmp_path / "out", Finder(), LABELS, force=True)
    assert (tmp_path / "out" / "annotation.conf").read_text().startswith("[entities]\nADR\nArm\nDrug\n")


def test_what_cannot_be_written_is_said_before_any_work(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(DisconerError, match="already exists"):
        suggest(folder, tmp_path / "out", Finder(), LABELS)
    for inside in (folder, folder / "out"):
        with pytest.raises(DisconerError, match="is the input, or inside it"):
            suggest(folder, inside, Finder(), LABELS, force=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DisconerError, match="no texts in this folder"):
        suggest(tmp_path / "empty", tmp_path / "new", Finder(), LABELS)
    assert not (tmp_path / "new").exists()


def test_command_with_a_bundled_model(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("History of severe renal or hepatic impairment.\n")
    arguments = ["suggest", tmp_path / "in", "-o", tmp_path / "out", "--labels", "Condition", "--scores"]
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert "suggestions in" in result.stderr
    lines = (tmp_path / "out" / "a.ann").read_text().splitlines()
    assert any(";" in line and "renal impairment" in line for line in lines)
    assert any(line.startswith("#1\tAnnotatorNotes T") for line in lines)
    assert (tmp_path / "out" / "annotation.conf").read_text().startswith("[entities]\nCondition\n")
