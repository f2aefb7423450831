"""An exported model runs where neither torch nor transformers is installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from disconer.export.onnx import export_model
from disconer.store.checkpoint import save_model
from nn.toy import letter_model

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
ABSENT = ("torch", "transformers", "accelerate", "safetensors", "huggingface_hub")
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r})); "  # importing any of them fails from now on
PREDICT = BLOCK + "from disconer.cli import main; sys.argv[0] = 'disconer'; main()"
IN_PYTHON = (
    BLOCK
    + """
from disconer import Recognizer
for entity in Recognizer.from_pretrained(sys.argv[1])("p in my k").entities:
    print(entity.label, entity.kind, entity.text)
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("exported")
    export_model(letter_model(), made)
    return made


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)


def test_in_python(folder: Path) -> None:
    done = run(IN_PYTHON, folder)
    assert done.stderr == ""
    assert done.stdout == "ADR discontinuous p k\n"


def test_on_the_command_line(folder: Path) -> None:
    done = run(PREDICT, "predict", "--text", "p in my k", "--model", folder)
    assert done.stderr == ""
    assert "ADR  discontinuous  p … k  0–1, 8–9" in done.stdout


def test_a_model_that_was_not_exported_says_what_to_do(tmp_path: Path) -> None:
    save_model(letter_model(), tmp_path / "model")
    done = run(PREDICT, "predict", "--text", "p in my k", "--model", tmp_path / "model")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path / 'model'}: This model needs packages that are not installed")
    assert "--onnx" in done.stderr


def test_evaluating(folder: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "a", "text": "p in my k", "entities": [{"label": "ADR", "fragments": [[0, 1], [8, 9]]}]}\n')
    done = run(PREDICT, "evaluate", gold, "--model", folder)
    assert done.stderr == ""
    assert "100.0" in done.stdout


def test_without_onnx_runtime_the_error_says_what_to_install(folder: Path) -> None:
    done = run("import sys; sys.modules['onnxruntime'] = None; " + PREDICT, "predict", "--text", "p", "--model", folder)
    assert done.returncode == 1
    assert "pip install 'disconer[onnx]'" in done.stderr


def test_what_prediction_needs_is_what_disconer_needs() -> None:
    """requirements/predict.txt names nothing else, and in no other version, than pyproject.toml does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = {*project["dependencies"], *project["optional-dependencies"]["onnx"]}
    lines = (ROOT / "requirements" / "predict.txt").read_text("utf-8").splitlines()
    listed = {line for line in lines if line and not line.startswith("#")}
    assert listed <= known
    names = {re.split(r"\W", line)[0] for line in listed}
    assert "onnxruntime" in names
    assert not names & set(ABSENT)
