from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from annotated import TEXT, annotated
from disconer import DisconerError, Document, Sentence, write
from disconer.cli import app


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "sound.jsonl"
    write([annotated("ADR: pain … hands", "ADR: pain … knees", id="a")], path)
    return path


@pytest.fixture
def faulty(sound: Path) -> Path:
    path = sound.with_name("faulty.jsonl")
    bad = {
        "id": "b",
        "text": TEXT,
        "entities": [{"label": "A", "fragments": [[0, 999]]}, {"label": "A", "fragments": []}],
    }
    path.write_text(sound.read_text() + json.dumps(bad) + "\n{\n")
    return path


def test_no_faults_is_exit_code_0(sound: Path) -> None:
    result = run(sound)
    assert result.exit_code == 0
    assert "errors: none" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["6", "100.00", "100.00", "100.00", "-", "-", "100.00", "0"] in rows
    assert [row[0] for row in rows if len(row) > 1 and row[1] == "100.00"] == [str(width) for width in range(6, 17)]
    assert ["no", "limit", "100.00", "100.00", "100.00", "-", "-", "100.00", "0"] in rows


def test_heads_are_told_where_there_are_any(sound: Path, tmp_path: Path) -> None:
    assert "with heads" not in run(sound).stdout
    one, two = Sentence(0, 2, ((0, 2),), (-1,)), Sentence(3, 8, ((3, 8),))
    write([Document("c", "No fever", (), (one, two))], tmp_path / "parsed.jsonl")
    assert ["sentences", "with", "heads", "1", "of", "2"] in [
        line.split() for line in run(tmp_path / "parsed.jsonl").stdout.splitlines()
    ]


def test_faults_are_counted_and_shown_and_exit_code_1(faulty: Path) -> None:
    result = run(faulty)
    assert result.exit_code == 1
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["bad-offset", "1"] in rows
    assert ["truncated", "1"] in rows
    assert f"bad-offset: {faulty}, line 2" in result.stdout
    figures = json.loads(run(faulty, "--json").stdout)
    assert figures["faults"] == {"bad-offset": 1, "bad-syntax": 1, "truncated": 1}
    assert [example["line"] for example in figures["examples"]] == [2, 2, 3]
    assert figures["documents"] == 2


def test_an_archive_that_cannot_be_trusted_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../a.jsonl", "")
    result = run(path, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["faults"] == {"unsafe-path": 1}


def test_widths(sound: Path) -> None:
    assert list(json.loads(run(sound, "--json", "--widths", "2-3").stdout)["oracle"]["widths"]) == ["2", "3", "none"]
    assert list(json.loads(run(sound, "--json", "--widths", "8").stdout)["oracle"]["widths"]) == ["8", "none"]


@pytest.mark.parametrize("widths", ["", "0", "0-4", "9-6", "a-b", "6-", "-6", "1-2-3", "1-9999"])
def test_bad_widths(sound: Path, widths: str) -> None:
    with pytest.raises(DisconerError, match="--widths takes"):
        run(sound, "--widths", widths)


def test_help_says_what_the_exit_code_means() -> None:
    assert "exit code" in run("--help").stdout


def test_a_real_corpus(data: Path) -> None:
    result = run(data / "craft" / "dev.jsonl.gz", "--json", "--widths", "6")
    figures = json.loads(result.stdout)
    assert (result.exit_code, figures["faults"]) == (0, {})
    limited, unlimited = figures["oracle"]["widths"].values()
    assert limited["all"]["found"] + figures["oracle"]["too_wide"]["6"] == unlimited["all"]["found"]
    assert unlimited["all"]["gold"] - unlimited["all"]["found"] == sum(figures["oracle"]["lost"].values())
    assert unlimited["discontinuous"]["f1"] > 0.99
