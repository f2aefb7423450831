from __future__ import annotations

import json
from pathlib import Path

import pytest

from disconer.render.report.figures import METRICS, Epoch, learning_curve

RECORD = {"epoch": 1, "loss": 2.5, "dev_f1": 0.5, "dev_f1_discontinuous": 0.25, "seconds": 3.0}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "best").mkdir()
    (tmp_path / METRICS).write_text(json.dumps(RECORD) + "\n", "utf-8")
    return tmp_path


def test_the_run_and_its_models_have_a_curve(run: Path) -> None:
    expected = [Epoch(1, 2.5, 0.5, 0.25)]
    assert learning_curve(str(run)) == learning_curve(str(run / "best")) == expected


def test_other_models_have_none(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run)
    assert learning_curve("somebody/some-model") == []
    assert learning_curve(str(run / "best" / "deeper")) == []


@pytest.mark.parametrize("content", ["{", '{"epoch": 1}', json.dumps(RECORD | {"loss": float("nan")}), "[]"])
def test_a_damaged_record_is_none(run: Path, content: str) -> None:
    (run / METRICS).write_text(content, "utf-8")
    assert learning_curve(str(run)) == []
