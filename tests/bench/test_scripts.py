"""The scripts in benchmarks/ that check the bars of speed, with a toy model and made-up figures."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from disconer import Document, write
from disconer.render.report.plots import Axis
from disconer.store.checkpoint import save_model
from nn.toy import letter_model

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for the names in their annotations
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("measured", "at_least", "holds"), [(1.3, True, True), (1.1, True, False), (1.3, False, False)]
)
def test_a_bar_holds_or_not(measured: float, at_least: bool, holds: bool) -> None:
    bar = script("speed").Bar("x", measured, 1.2, at_least=at_least)
    assert bar.holds is holds
    assert str(bar).endswith("yes" if holds else "NO")


def test_bars_of_growth(tmp_path: Path) -> None:
    sizes = [{"sentences": 1000, "per_second": 100, "megabytes": 500}]
    sizes += [{"sentences": 10_000, "per_second": 110, "megabytes": 700}]
    lengths = [{"tokens": 10, "microseconds": 40}, {"tokens": 400, "microseconds": 60}]
    (tmp_path / "growth.json").write_text(json.dumps({"sizes": sizes, "lengths": lengths}))
    speed, memory, token = script("speed").growth_bars(tmp_path / "growth.json")
    assert (speed.measured, memory.measured, token.measured) == (pytest.approx(0.1), pytest.approx(0.4), 1.5)
    assert (speed.holds, memory.holds, token.holds) == (True, False, True)


def test_growth_of_a_toy_model(tmp_path: Path) -> None:
    save_model(letter_model(positions=256), tmp_path / "model")
    write([Document("a", "p in my k.\nno k and more p")], tmp_path / "notes.jsonl")
    command = [sys.executable, BENCHMARKS / "growth.py", "--model", tmp_path / "model", "--out", tmp_path]
    command += ["--data", tmp_path / "notes.jsonl", "--sizes", "4", "40", "--lengths", "5", "50"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    found = json.loads((tmp_path / "growth.json").read_text())
    assert [size["sentences"] for size in found["sizes"]] == [4, 40]
    assert [length["tokens"] for length in found["lengths"]] == [5, 50]
    for name in ("speed-by-size", "cost-by-length"):
        drawn = ElementTree.parse(tmp_path / f"{name}.svg").getroot()
        assert len(list(drawn.iter("{http://www.w3.org/2000/svg}circle"))) == 2


def test_equal_factors_are_equal_steps() -> None:
    axis = Axis("sentences", 10, 1000, [], log=True)
    assert [axis.place(value, 0, 100) for value in (10, 100, 1000)] == pytest.approx([0, 50, 100])
