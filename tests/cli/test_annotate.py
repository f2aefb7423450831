from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from disconer.annotate.documents import open_documents
from disconer.annotate.workspace import Workspace
from disconer.cli import annotate, app
from disconer.core.errors import DisconerError


def run(*arguments: object) -> None:
    CliRunner().invoke(app, ["annotate", *map(str, arguments)], catch_exceptions=False)


def test_options_become_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(annotate, "annotate", lambda settings, **more: given.update(more, settings=settings))
    monkeypatch.setenv("DISCONER_TOKEN", "from the environment")
    run(tmp_path, "--labels", "ADR,Drug", "-a", "anna", "-a", "ben", "--compare", "ann/zoe", "--compare", "y=x/z")
    settings = given["settings"]
    assert (settings.path, settings.labels, list(settings.annotators)) == (tmp_path, "ADR,Drug", ["anna", "ben"])
    assert settings.compare == {"zoe": Path("ann/zoe"), "y": Path("x/z")}
    assert (given["host"], given["token"]) == ("127.0.0.1", "from the environment")


def test_others_on_the_network_need_a_token(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Well.")
    with pytest.raises(DisconerError, match=r"Anyone who can reach 0\.0\.0\.0.*--token"):
        run(tmp_path, "--host", "0.0.0.0")


def test_what_cannot_be_annotated_is_said(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no texts in this folder"):
        run(tmp_path)
    (tmp_path / "a.txt").write_text("Well.")
    with pytest.raises(DisconerError, match="Too few documents are done"):
        run(tmp_path, "--train")


def test_says_which_packages_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(annotate, "NEEDED", ("surely_not_installed",))
    with pytest.raises(DisconerError, match=r"surely_not_installed.*pip install 'disconer\[serve\]'"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({}, ""),
        (
            {"b": "T1\tADR 0 99\tx\n"},
            r"1 document cannot be read, the first: \S*b\.ann, line 1.*ends past the end",
        ),
        (
            {"b": "T1 ADR\n", "c": "x\nT1 A\n"},
            r"2 documents cannot be read, the first: \S*b\.ann, line 1.*tabs",
        ),
    ],
)
def test_documents_that_cannot_be_read_are_said_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: dict[str, str], said: str
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("Well.")
        (tmp_path / f"{name}.ann").write_text(broken.get(name, ""))
    annotate._warn_of_unreadable(Workspace(open_documents(tmp_path)))
    shown = capsys.readouterr().err
    assert re.match(f"warning: {said}", shown) if said else not shown
    assert "--skip-bad" not in shown


@pytest.mark.slow
def test_the_page_needs_no_torch(tmp_path: Path) -> None:
    """With a model, too, wherever importing torch fails."""
    (tmp_path / "a.txt").write_text("History of renal or hepatic impairment.")
    code = """
import sys
sys.modules |= dict.fromkeys(["torch", "transformers", "accelerate"])
from pathlib import Path
from disconer.annotate.app import create_app
from disconer.annotate.project import Project, Settings
from disconer.cli.annotate import load_suggester
project = Project(Settings(path=Path(sys.argv[1]), model="clinical-trials"), load_suggester)
create_app(project)
opened = project.workspace("annotator").open("a")
print([one.label for one in project.suggestions(opened)])
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Condition" in done.stdout
