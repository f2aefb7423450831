"""The benchmark of the service for a moment, with a toy model: every answer is right, and none is lost at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from disconer import Document, write
from disconer.store.checkpoint import save_model
from nn.toy import letter_model
from once import with_graphs_once

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "serving.py"


def test_right_answers_under_load_and_none_lost(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    save_model(with_graphs_once(tmp_path_factory, letter_model()), tmp_path / "model")
    texts = [f"{'p ' * (number % 4)}x{number} {'and k ' * (number % 3)}." for number in range(40)]
    write([Document("a", "\n".join(texts))], tmp_path / "texts.jsonl")
    command = [sys.executable, BENCHMARK, tmp_path / "model", tmp_path / "texts.jsonl"]
    command += ["--clients", "32", "--seconds", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout, done.stderr
    figures = json.loads(done.stdout)
    for phase in ("closed", "80 %", "overload", "end"):
        assert figures[phase]["wrong"] == 0
        assert set(figures[phase]["outcomes"]) <= {"200", "429", "503", "refused"}
        assert figures[phase]["outcomes"]["200"] > 0
    assert figures["end"]["exit_status"] == 0
