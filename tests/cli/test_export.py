from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from disconer import DisconerError
from disconer.cli import app
from disconer.store.checkpoint import save_model
from nn.toy import letter_model

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, graphs_are_shared: None) -> Path:
    """A model that finds the words p and k, and p … k."""
    folder = tmp_path_factory.mktemp("model")
    save_model(letter_model(), folder)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)], catch_exceptions=False)


def test_export_and_check(model: Path, tmp_path: Path) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out"
    gold.write_text('{"id": "a", "text": "p in my k", "entities": [{"label": "ADR", "fragments": [[0, 1], [8, 9]]}]}\n')
    shown = run(model, out, "--onnx", "--check", gold).stdout
    assert shown.startswith(f"{out}: 0.")
    assert re.search(r"F1 +100\.00 +100\.00", shown)
    assert "1 of 1 documents have the same entities." in shown
    card = (out / "README.md").read_text()
    assert "In this form, its F1 on `gold.jsonl` (1 documents) is the same, 100.00." in card

    with pytest.raises(DisconerError, match="already an export"):
        run(out, tmp_path / "again", "--onnx")


def test_what_exists_is_kept(model: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(DisconerError, match="already exists"):
        run(model, tmp_path, "--onnx")
    assert (tmp_path / "mine").read_text() == "x"


def test_compact_and_check(model: Path, tmp_path: Path) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out"
    gold.write_text('{"id": "a", "text": "p in my k", "entities": [{"label": "ADR", "fragments": [[0, 1], [8, 9]]}]}\n')
    shown = run(model, out, "--compact", "--check", gold).stdout
    assert "1 of 1 documents have the same entities." in shown
    card = (out / "README.md").read_text()
    assert "It is stored compactly" in card
    assert "In this form, its F1 on `gold.jsonl` (1 documents) is the same, 100.00." in card
    run(out, tmp_path / "onnx", "--onnx")  # unlike other exports, it can be exported again


@pytest.mark.parametrize("options", [[], ["--compact", "--onnx"], ["--compact", "--int8"]])
def test_it_must_be_said_as_what(model: Path, tmp_path: Path, options: list[str]) -> None:
    with pytest.raises(DisconerError, match="--compact, --int8 or --onnx"):
        run(model, tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()
