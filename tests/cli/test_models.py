"""`disconer models`: what is listed of the models that have names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from disconer import DisconerError, Recognizer
from disconer.cli import app
from disconer.evaluate import evaluate
from disconer.nn.scores import UNSCALED
from disconer.store import names as models
from disconer.store.checkpoint import record_measures, save_model
from nn.toy import letter_model


@pytest.fixture(autouse=True)
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that comes with disconer, measured, and one of the user's, which was not."""
    monkeypatch.setattr(models, "BUNDLED_MODELS", tmp_path / "shipped")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "share" / "disconer" / "models" / "mine"
    for folder in (tmp_path / "shipped" / models.DEFAULT, own):
        save_model(letter_model(), folder)
    found = [Recognizer.from_pretrained("mine")("p in my k")]
    record_measures(tmp_path / "shipped" / models.DEFAULT, UNSCALED, {"dev": evaluate(found, found).to_dict()})
    return tmp_path


def run(*arguments: str) -> str:
    return CliRunner().invoke(app, ["models", *arguments], catch_exceptions=False).stdout


def test_the_list(named: Path) -> None:
    default, mine, hint = run().split("\n\n")
    assert default.splitlines()[0].startswith("clinical-trials (default): 0.")
    assert "  F1 100.0 dev; discontinuous entities alone 100.0 dev" in default
    assert str(named / "shipped" / "clinical-trials") in default
    assert mine.startswith("mine: 0.")
    assert "finds ADR" in mine
    assert "F1" not in mine
    assert "disconer models NAME" in hint


def test_for_machines(named: Path) -> None:
    default, mine = json.loads(run("--json"))
    assert (default["name"], default["default"], default["f1"]) == ("clinical-trials", True, {"dev": 1.0})
    assert (mine["name"], mine["default"], mine["f1"]) == ("mine", False, {})
    assert Path(mine["folder"]).is_dir()
    assert json.loads(run("mine", "--json"))["labels"] == mine["labels"]


def test_the_card_of_one() -> None:
    card = run("clinical-trials")
    assert card.startswith("# ")
    assert "| dev | all |" in card
    assert "Not a medical device" in card


def test_a_model_that_cannot_be_read_is_listed_all_the_same(named: Path) -> None:
    (named / "share" / "disconer" / "models" / "mine" / "config.json").write_text("[")
    assert "\nmine: " in run()
    (named / "share" / "disconer" / "models" / "mine" / "README.md").unlink()
    with pytest.raises(DisconerError, match="has no card"):
        run("mine")


@pytest.mark.slow
def test_it_is_quick_and_loads_nothing_heavy(named: Path) -> None:
    code = "import sys, disconer.store.names as known; known.known_models(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "False"
