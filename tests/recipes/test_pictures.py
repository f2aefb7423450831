"""The pictures for the page of results: errors and learning curves."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from disconer.store.checkpoint import save_model
from nn.toy import letter_model

RECIPES = Path(__file__).parents[2] / "recipes"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.slow
def test_errors_of_a_toy(tmp_path: Path) -> None:
    """The toy finds the words p and k, and p … k; the gold has nothing."""
    save_model(letter_model(), tmp_path / "model")
    (tmp_path / "dev.jsonl").write_text('{"id": "a", "text": "p in my k", "entities": []}\n')
    command = [sys.executable, RECIPES / "errors.py", tmp_path / "model", tmp_path / "dev.jsonl", tmp_path / "errors"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("1. **spurious** (discontinuous): gold nothing; predicted ADR “p … k” at ")
    for theme in ("light", "dark"):
        drawn = ElementTree.parse(tmp_path / f"errors-{theme}.svg").getroot()
        assert "1. spurious, discontinuous" in {text.text for text in drawn.iter(f"{SVG}text")}


def test_learning_curves(tmp_path: Path) -> None:
    measured = [
        {"corpus": corpus, "percent": percent, "documents": 16 * percent, "all": [f1, f1 + 0.02], "discontinuous": [f1]}
        for corpus in ("Chia", "GENIA")
        for percent, f1 in ((10, 0.5), (30, 0.6), (100, 0.7))
    ]
    (tmp_path / "learning.json").write_text(json.dumps(measured))
    script = runpy.run_path(str(RECIPES / "curves.py"))
    assert script["rows"](measured)[-1] == "| GENIA, 100 % | 1,600 | 71.0 ± 1.4 | 70.0 |"
    drawn = ElementTree.fromstring(script["curves"](measured, "all"))
    assert len(list(drawn.iter(f"{SVG}circle"))) == 6
    assert {"Chia", "GENIA", "10", "30", "100"} <= {text.text for text in drawn.iter(f"{SVG}text")}
    notes = [title.text for title in drawn.iter(f"{SVG}title")]
    assert "Chia, 160 documents: 51.0 ± 1.4" in notes
