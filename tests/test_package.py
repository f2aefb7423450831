"""What installing and importing disconer costs: light parts stay light, and the command answers at once."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from statistics import median

import pytest

import disconer
from disconer.core.places import BUNDLED_MODELS

HEAVY = ("torch", "transformers", "accelerate", "spacy", "safetensors", "huggingface_hub")
LIGHT = (
    "core", "text", "formats", "corpora", "config", "evaluate", "render", "start", "nn.windows", "nn.arrays",
    "nn.encoders.vectors.table", "nn.heads.span.targets", "nn.heads.span.reading", "store.names", "store.description",
    "predict.settings", "predict.recognizer", "predict.onnx", "serve.service", "cli",
)  # fmt: skip
NEEDS_SPACY = "disconer.formats.docbin."  # imported only when such a file is read or written
SECONDS = 0.5  # of CPU time: a busy machine changes the clock, not the work

IMPORT_ALL = """
import importlib, pkgutil, sys
top = importlib.import_module("disconer.{name}")
for module in pkgutil.walk_packages(getattr(top, "__path__", []), top.__name__ + "."):
    if not module.name.startswith({extra!r}):
        importlib.import_module(module.name)
print(*(name for name in {heavy} if name in sys.modules))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT)
def test_light_parts_import_nothing_heavy(name: str) -> None:
    code = IMPORT_ALL.format(name=name, heavy=HEAVY, extra=NEEDS_SPACY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.slow
def test_the_test_above_can_fail() -> None:
    code = IMPORT_ALL.format(name="nn.network", heavy=HEAVY, extra=NEEDS_SPACY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "torch" in done.stdout.split()


def help_seconds() -> float:
    """The CPU time of one `disconer --help`."""
    resource = pytest.importorskip("resource")  # Windows has none
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-m", "disconer", "--help"], capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
def test_help_is_quick() -> None:
    help_seconds()  # compiles what was not compiled yet
    assert median(help_seconds() for _ in range(5)) < SECONDS


@pytest.mark.slow
@pytest.mark.skipif(not BUNDLED_MODELS.is_dir(), reason="models are not in this checkout: see recipes/README.md")
def test_a_prediction_leaves_nothing_in_the_home_of_its_user(tmp_path: Path) -> None:
    """ONNX Runtime would leave there what it reports to its makers."""
    hidden = ("XDG_", "ORT_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    command = [sys.executable, "-m", "disconer", "predict", "--text", "Aspirin for fever", "--to", "jsonl"]
    done = subprocess.run(command, capture_output=True, check=True, env=environment | {"HOME": str(tmp_path)})
    assert b"Aspirin" in done.stdout
    assert list(tmp_path.rglob("*")) == []


def test_the_installed_package() -> None:
    assert version("disconer") == disconer.__version__
    (command,) = entry_points(group="console_scripts", name="disconer")
    assert command.value == "disconer.__main__:main"
