from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotated import annotated
from disconer import BadInput, write
from disconer.cli import app


def run(*arguments: object) -> str:
    return CliRunner().invoke(app, ["stats", *map(str, arguments)], catch_exceptions=False).stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write([annotated("ADR: pain … hands", "ADR: pain", id="a")], tmp_path / "train.jsonl")
    write([annotated("ADR: itching", "Site [b]: arm", id="b")], tmp_path / "test.jsonl")
    return tmp_path


def test_json_by_split(folder: Path) -> None:
    figures = json.loads(run(folder, "--json"))
    assert list(figures) == ["train", "test", "all"]
    assert [part["entities"] for part in figures.values()] == [2, 2, 4]
    assert figures["all"]["labels"]["ADR"] == {"entities": 3, "regular": 1, "overlapped": 1, "discontinuous": 1}
    assert figures["train"]["gaps"]["counts"] == {"3": 1}


def test_one_file_has_no_splits(folder: Path) -> None:
    assert list(json.loads(run(folder / "train.jsonl", "--json"))) == ["all"]


def test_table(folder: Path) -> None:
    rows = [line.split() for line in run(folder).splitlines()]
    assert ["train", "test", "all"] in rows
    assert ["entities", "2", "2", "4"] in rows
    assert ["discontinuous", "1", "(50.0", "%)", "0", "(0.0", "%)", "1", "(25.0", "%)"] in rows
    assert ["tokens", "between", "fragments"] in rows
    labels = [row for row in rows if row[:2] == ["Site", "[b]"]]
    assert labels[0][2:6] == ["0", "1", "1", "25.0"]


def test_bad_input_stops_unless_it_is_skipped(folder: Path) -> None:
    with (folder / "test.jsonl").open("a") as stream:
        stream.write("{\n")
    with pytest.raises(BadInput, match="line 2"):
        run(folder)
    result = CliRunner().invoke(app, ["stats", str(folder), "--skip-bad", "--json"])
    assert json.loads(result.stdout)["test"]["documents"] == 1
    assert "skipped: 1 truncated" in result.stderr


@pytest.mark.slow
def test_half_a_surrogate_in_a_label_is_shown_escaped(tmp_path: Path) -> None:
    """Through the real command: a captured stdout takes anything, one that encodes does not."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "pain", "entities": [{"label": "A\\ud800", "fragments": [[0, 4]]}]}\n')
    command = [sys.executable, "-c", "from disconer.cli import main; main()", "stats", str(path)]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    table = subprocess.run(command, capture_output=True, env=environment, check=True, encoding="utf-8").stdout
    assert "A\\ud800" in table
    figures = subprocess.run([*command, "--json"], capture_output=True, env=environment, check=True).stdout
    assert list(json.loads(figures)["all"]["labels"]) == ["A\ud800"]


def test_counts_of_a_real_corpus(data: Path) -> None:
    figures = json.loads(run(data / "craft" / "dev.jsonl.gz", "--json"))["all"]
    assert (figures["documents"], figures["sentences"], figures["entities"]) == (7, 2780, 9710)
    assert figures["sentences_with_heads"] == 2780
    assert {kind: figures["kinds"][kind]["count"] for kind in figures["kinds"]} == {
        "regular": 8876,
        "overlapped": 680,
        "discontinuous": 154,
    }
