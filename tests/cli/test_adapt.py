from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from adapt.tiny import tiny_encoder, write_notes
from disconer import DisconerError
from disconer.cli import app


@pytest.fixture
def command(tmp_path: Path) -> list[object]:
    """A run of a few steps."""
    encoder, notes = tiny_encoder(tmp_path / "encoder"), write_notes(tmp_path / "notes")
    (tmp_path / "more.txt").write_text("mild pain in the knee")
    sizes = ["--steps", 3, "--batch", 4, "--length", 32, "--held-out", 0.2]
    return [encoder, notes, tmp_path / "more.txt", tmp_path / "adapted", *sizes]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["adapt", *map(str, arguments)], catch_exceptions=False)


def test_several_texts_into_one_encoder(command: list[object], tmp_path: Path) -> None:
    result = run(*command)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "text: 34 documents" in result.stderr
    assert "held-out perplexity, before:" in result.stderr
    assert f"the encoder is in {tmp_path / 'adapted'}" in result.stderr


def test_json_is_all_of_stdout(command: list[object], tmp_path: Path) -> None:
    figures = json.loads(run(*command, "--json").stdout)
    assert figures["folder"] == str(tmp_path / "adapted")
    assert figures["steps"] == 3
    assert figures["new_head"] is True


def test_wrong_settings(command: list[object]) -> None:
    with pytest.raises(DisconerError, match=r"mask 2\.0, expected between 0 and 1"):
        run(*command, "--mask", 2)


@pytest.mark.parametrize("by_number", [True, False])
def test_words_by_number_or_file_and_case(by_number: bool, command: list[object], tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("Kneepain of the hand. " * 60)
    (tmp_path / "words.txt").write_text("kneepain\n")
    result = run(*command, "--words", 5 if by_number else tmp_path / "words.txt", "--case")
    assert result.exit_code == 0
    assert "words: 1 added to the vocabulary" in result.stderr
    assert ("subwords per word: " in result.stderr) is by_number
    assert (
        "note: words of several subwords seen 60 times or more: 1, not 5; --words FILE" in result.stderr
    ) is by_number
    about = tmp_path / "adapted" / "adaptation"
    assert (about / "words.txt").read_text() == "kneepain\n"
    assert json.loads((about / "run.json").read_text())["words"] == (5 if by_number else "words.txt")


def test_bad_texts_are_counted(command: list[object], tmp_path: Path) -> None:
    (tmp_path / "notes" / "bad.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DisconerError, match="This is not UTF-8"):
        run(*command)
    assert "skipped: 1 bad-encoding" in run(*command, "--skip-bad").stderr


def test_interrupted(command: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("disconer.adapt.loop.Loop._step", interrupt)
    result = run(*command)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "stopped; nothing was saved yet.")
