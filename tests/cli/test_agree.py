from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotated import TEXT, annotated
from disconer import DisconerError, read, write
from disconer.cli import app

ANNA = [annotated("ADR: pain … hands", "ADR: itching", "Drug: arm", id="sub/a"), annotated("ADR: pain", id="b")]
BEN = [annotated("ADR: pain in knees and hands", "ADR: itching", id="sub/a")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(ANNA, tmp_path / "anna", "brat")
    (tmp_path / "anna" / "todo.txt").write_text("not annotated yet")
    (tmp_path / "anna" / "sub" / "a.ann").open("a").write("#1\tAnnotatorNotes T1\tsure\n")
    write(BEN, tmp_path / "ben.jsonl")
    return tmp_path


def run(*arguments: object) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["agree", *map(str, arguments)], catch_exceptions=False)
    return result.stdout, result.stderr


def test_formats_differ_and_texts_without_annotations_are_counted(folder: Path) -> None:
    shown, said = run(folder / "anna", folder / "ben.jsonl", "--json")
    figures = json.loads(shown)
    assert figures["annotators"] == {
        "anna": {"documents": 2, "entities": 4}, "ben": {"documents": 1, "entities": 2},
    }  # fmt: skip
    assert figures["pairs"][0]["exact"]["f1"] == pytest.approx(2 * 1 / 5)
    assert "1 text without an .ann, not annotated by anna" in said


def test_texts_alone_are_no_annotator(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "b.txt").write_text(TEXT)
    with pytest.raises(DisconerError, match=r"notes: There are no annotations by notes here, only texts\."):
        run(folder / "anna", folder / "notes")
    (folder / "notes" / "b.ann").write_text("")
    _, said = run(folder / "anna", folder / "notes")
    assert "notes has no entities in 1 document: all others' entities count as missed by notes" in said
    assert "anna has no entities" not in said


def test_tables_and_page(folder: Path) -> None:
    page = folder / "page.html"
    shown, _ = run(folder / "anna", folder / "ben.jsonl", "--html", page)
    assert "anna – ben" in shown
    assert "1 document is annotated by all annotators, 1 by only some of them" in shown
    html = page.read_text("utf-8")
    assert "Sentences with disagreements: 2" in html
    assert "fragments\\u003c/b>: anna ADR “pain … hands”, ben ADR “pain in knees and hands”" in html
    with pytest.raises(DisconerError, match="already exists"):
        run(folder / "anna", folder / "ben.jsonl", "--html", page)


def test_adjudication(folder: Path) -> None:
    out = folder / "out"
    _, said = run(folder / "anna", folder / "ben.jsonl", "--adjudicate", out)
    assert "1 entity that all agree on, of 2 documents; 3 disputes in 2 of them" in said
    assert "lost: 1 text without an .ann, not annotated by anna, 1 brat note" in said
    assert f"Settle the disputes: disconer annotate {out}" in said
    assert {one.id: [entity.text for entity in one.entities] for one in read(out)} == {"sub/a": ["itching"], "b": []}
    assert "ADR\nDrug\n" in (out / "annotation.conf").read_text()
    assert json.loads((out / "sub" / "a.disputed.json").read_text("utf-8")) == {
        "version": 1,
        "document": "sub/a",
        "annotators": ["anna", "ben"],
        "disputes": [
            {
                "start": 7,
                "end": 30,
                "classes": ["fragments"],
                "versions": {
                    "anna": [{"id": "T1", "label": "ADR", "fragments": [[7, 11], [25, 30]], "text": "pain hands"}],
                    "ben": [{"label": "ADR", "fragments": [[7, 30]], "text": TEXT[7:30]}],
                },
            },
            {
                "start": 62,
                "end": 65,
                "classes": ["missed"],
                "versions": {
                    "anna": [{"id": "T3", "label": "Drug", "fragments": [[62, 65]], "text": "arm"}],
                    "ben": [],
                },
            },
        ],
    }
    assert json.loads((out / "b.disputed.json").read_text("utf-8"))["annotators"] == ["anna"]


def test_names(folder: Path) -> None:
    for name in ("one", "two"):
        write(BEN, folder / name / "notes", "brat")
    assert "one – two" in run(folder / "one" / "notes", folder / "two" / "notes")[0]
    assert "x – y" in run(folder / "one" / "notes", folder / "two" / "notes", "--names", "x, y")[0]
    for wrong in ("x", "", "x,,y"):
        with pytest.raises(DisconerError, match=f"Got '{wrong}', expected 2 different names"):
            run(folder / "one" / "notes", folder / "two" / "notes", "--names", wrong)
    with pytest.raises(DisconerError, match="Agreement needs two annotators"):
        run(folder / "anna")
