from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from annotated import annotated
from disconer import DisconerError, write
from disconer.cli import app
from render.parsed_html import parsed
from render.pictures import PARSED

DOCUMENTS = [annotated("ADR: pain … hands", id="a"), annotated("ADR: itching", id="b")]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write(DOCUMENTS, tmp_path / "documents.jsonl")
    return tmp_path / "documents.jsonl"


def run(*arguments: object) -> str:
    return CliRunner().invoke(app, ["render", *map(str, arguments)], catch_exceptions=False).stdout


def test_a_page_on_stdout(source: Path) -> None:
    page = parsed(run(source))
    assert [one.text for one in page.all("p", "head")] == ["a · 1 entity: 1 discontinuous", "b · 1 entity: 1 regular"]


def test_files_by_their_suffix_whole_or_not_at_all(source: Path) -> None:
    page, picture = source.with_name("page.html"), source.with_name("picture.svg")
    run(source, "-o", page)
    run(source, "-o", picture)
    assert len(parsed(page.read_text("utf-8")).all("div", "disconer")) == 2
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    with pytest.raises(DisconerError, match="already exists"):
        run(source, "-o", page)
    run(source, "-o", page, "--force")
    with pytest.raises(DisconerError, match=r"\.html or \.svg"):
        run(source, "-o", source.with_name("picture.png"))


def test_what_was_drawn_is_said(source: Path) -> None:
    def said(*arguments: object) -> str:
        return CliRunner().invoke(app, ["render", *map(str, arguments)], catch_exceptions=False).stderr

    page = source.with_name("page.html")
    assert said(source, "-o", page) == f"written: {page} (html), from 2 documents with 2 entities\n"
    assert said(source) == ""
    source.with_name("note.txt").write_text("some pain")
    assert "no entities to draw; `disconer predict` finds some" in said(
        source.with_name("note.txt"), "-o", page, "--force"
    )


def test_against_gold(source: Path) -> None:
    write([annotated("ADR: itching", id="b"), annotated("ADR: pain", id="a")], source.with_name("predicted.jsonl"))
    page = parsed(run(source.with_name("predicted.jsonl"), "--gold", source))
    heads = {one.text for one in page.all("p", "head")}
    assert heads == {"a · 0 right, 1 missed (−), 1 wrong (+)", "b · 1 right, 0 missed (−), 0 wrong (+)"}


def test_arcs_need_heads(source: Path) -> None:
    target = source.with_name("page.html")
    with pytest.raises(DisconerError, match="no sentence has heads"):
        run(source, "--arcs", "-o", target)
    assert not target.exists()
    write([PARSED, *DOCUMENTS], source.with_name("parsed.jsonl"))
    assert ">nsubj<" in run(source.with_name("parsed.jsonl"), "--arcs")


def test_any_format(tmp_path: Path) -> None:
    write(DOCUMENTS, tmp_path / "brat", "brat")
    assert len(parsed(run(tmp_path / "brat", "--from", "brat")).all("div", "disconer")) == 2
