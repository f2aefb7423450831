"""What all commands share: help, groups, names of options."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from disconer import Document, Entity, read, write
from disconer.cli import app, main
from disconer.formats import all_formats

ROOT: Any = typer.main.get_command(app)
NAMES = list(ROOT.commands)


def help_of(*words: str, width: int = 80) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": str(width), "TERMINAL_WIDTH": str(width)})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", NAMES)
def test_flags_have_no_type(name: str) -> None:
    assert "<bool>" not in help_of(name, width=120)


@pytest.mark.parametrize("name", NAMES)
def test_paragraphs_are_broken_by_the_terminal_alone(name: str) -> None:
    assert all("\n" not in paragraph for paragraph in ROOT.commands[name].help.split("\n\n"))


@pytest.mark.parametrize("name", ["predict", "convert", "train"])
def test_lines_of_help_are_full(name: str) -> None:
    """No line of a paragraph is so short that the next line's first word would have fitted."""
    text = help_of(name).split("╭")[0]
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        for line, following in pairwise(lines):
            assert len(line) + 1 + len(following.split()[0]) > 76, paragraph


def test_commands_are_in_groups_and_completion_is_offered() -> None:
    shown = help_of()
    for panel in ("Find entities", "Data", "Training", "Models"):
        assert f"─ {panel} ─" in shown
    assert "--install-completion" in shown
    assert "<bool>" not in shown


BOTH_WAYS = ", ".join(format.name for format in all_formats() if format.is_readable and format.write)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("predict", "convert"), f"{BOTH_WAYS}; only to read: conllu, text; only to write: csv, tsv."),
        (("evaluate", "init", "check", "render"), BOTH_WAYS.replace("brat,", "brat, conllu,") + ", text."),
        (("merge",), f"{BOTH_WAYS}, csv, tsv."),
    ],
)
def test_formats_are_listed_that_the_command_reads_or_writes(names: Sequence[str], expected: str) -> None:
    for name in names:
        assert f"Formats: {expected} `disconer formats`" in " ".join(help_of(name).split())


def flags(name: str) -> set[str]:
    return {flag for parameter in ROOT.commands[name].params for flag in parameter.opts}


@pytest.mark.parametrize("name", NAMES)
def test_one_name_for_one_thing(name: str) -> None:
    own = flags(name)
    assert ("--model" in own) == ("-m" in own)
    assert ("--force" in own) == ("--overwrite" in own)
    assert ("--out" in own) == ("-o" in own)
    assert "--output" not in own or "--out" in own


def test_the_output_of_a_conversion_has_that_name_too_and_is_told(tmp_path: Path) -> None:
    documents = [Document("d", "some pain", (Entity("ADR", ((5, 9),)),))]
    write(documents, tmp_path / "a.jsonl")
    for number, given in enumerate((["-o"], ["--out"], [])):
        out = tmp_path / f"{number}.xml"
        result = CliRunner().invoke(app, ["convert", str(tmp_path / "a.jsonl"), *given, str(out)])
        assert result.exit_code == 0, result.output
        assert result.stderr == f"written: {out} (bioc-xml), from 1 document with 1 entity\n"
        assert [document.id for document in read(out)] == ["d"]


def test_usual_names_of_training_settings() -> None:
    assert {"--lr", "--batch-size", "--epochs", "--seed"} <= flags("train")
    assert {"--lr", "--batch-size"} <= flags("adapt")


@pytest.mark.parametrize("name", ["-", ""])
def test_an_output_without_a_name_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write([Document("d", "some pain")], tmp_path / "a.jsonl")
    for command in (
        ["predict", "a.jsonl", "--to", "jsonl", "-o", name],
        ["predict", "a.jsonl", "--ray", "-o", name],
        ["predict", "--text", "some pain", "--to", "jsonl", "-o", name],
        ["convert", "a.jsonl", name, "--to", "bio", "--force"],
        ["parse", "a.jsonl", name, "--force"],
    ):
        result = CliRunner().invoke(app, command)
        assert "The output needs the name of a file or folder" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("error", ["full disk of a file", "full disk"])
def test_a_full_disk_that_nobody_else_reports(
    error: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *["/tmp/spool"] * (error != "full disk"))

    monkeypatch.setattr("disconer.cli.app", stop)
    monkeypatch.setattr("sys.argv", ["disconer"])
    with pytest.raises(SystemExit, match="1"):
        main()
    named = "The output" if error == "full disk" else "/tmp/spool: This file"
    assert capsys.readouterr().err.startswith(f"error: {named} could not be written: the disk is full")
