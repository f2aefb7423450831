"""The core: everything but training runs where neither torch nor transformers nor accelerate is installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import pytest

from disconer.export.onnx import export_model
from disconer.store.checkpoint import save_model
from disconer.store.graphs import NoGraphs, write_graphs
from nn.toy import letter_model
from once import made_once, with_graphs_once

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
ABSENT = ("torch", "transformers", "accelerate", "onnx", "onnxscript")
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r})); "  # importing any of them fails from now on
COMMAND = BLOCK + "from disconer.cli import main; sys.argv[0] = 'disconer'; main()"
IN_PYTHON = (
    BLOCK
    + """
from disconer import Recognizer
ner = Recognizer.from_pretrained(sys.argv[1])
for entity in ner("p in my k").entities:
    print(ner.runtime, entity.label, entity.kind, entity.text)
"""
)
GOLD = {"id": "a", "text": "p in my k", "entities": [{"label": "ADR", "fragments": [[0, 1], [8, 9]]}]}
SENTENCE = "Severe cardiac, hepatic or renal insufficiency within the last 6 months."


@pytest.fixture(scope="module", params=["stored", "exported"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "exported":
        return made_once(tmp_path_factory, "exported letters", exported)
    made = tmp_path_factory.mktemp("model")
    save_model(with_graphs_once(tmp_path_factory, letter_model()), made)
    return made


def exported(folder: Path) -> Path:
    export_model(letter_model(), folder)
    return folder


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(GOLD) + "\n")
    return path


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)


def test_in_python(folder: Path) -> None:
    done = run(IN_PYTHON, folder)
    assert done.stderr == ""
    assert done.stdout == "onnx ADR discontinuous p k\n"


def test_predicting(folder: Path) -> None:
    done = run(COMMAND, "predict", "--text", "p in my k", "--model", folder)
    assert done.stderr == ""
    assert "ADR  discontinuous  p … k  0–1, 8–9" in done.stdout


def test_a_bundled_model() -> None:
    done = run(COMMAND, "predict", "--text", SENTENCE)
    assert done.stderr == ""
    assert "Condition  discontinuous  cardiac … insufficiency" in done.stdout


def test_predicting_files_with_workers(folder: Path, gold: Path, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("p in my k")
    out = tmp_path / "out.jsonl"
    done = run(COMMAND, "predict", *tmp_path.glob("*.txt"), "--model", folder, "--jobs", 2, "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text().count('"ADR"') == 3


def test_evaluating(folder: Path, gold: Path) -> None:
    done = run(COMMAND, "evaluate", gold, "--model", folder)
    assert done.stderr == ""
    assert "100.0" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["convert", "{gold}", "{out}", "--to", "brat"], ""),
        (["check", "{gold}"], "100.00"),
        (["stats", "{gold}"], "discontinuous"),
        (["render", "{gold}", "--output", "{out}.html"], ""),
        (["models"], "clinical-trials (default)"),
        (["init", "--preset", "chia", "--out", "{out}.yaml"], ""),
        (["export", "--help"], "--int8"),
        (["train", "--help"], "--resume"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_else_needs_no_torch(arguments: list[str], shown: str, gold: Path, tmp_path: Path) -> None:
    done = run(COMMAND, *(argument.format(gold=gold, out=tmp_path / "out") for argument in arguments))
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


def test_serving(folder: Path) -> None:
    command = [sys.executable, "-c", COMMAND, "serve", "--model", f"letters={folder}", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            address = next(found[1] for line in lines if (found := re.search(r"on (http://\S+)", line)))
            body = json.dumps({"texts": ["p in my k"]}).encode()
            request = urllib.request.Request(f"{address}/v1/predict", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=30) as response:
                answer = json.load(response)
            with urllib.request.urlopen(f"{address}/v1/models", timeout=30) as response:
                assert json.load(response)["models"][0]["runtime"] == "onnx"
        finally:
            process.terminate()
    assert [entity["text"] for entity in answer["documents"][0]["entities"]] == ["p k"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["train", "clef", "--out", "{out}"], "Training"),
        (["adapt", "biomedical-minilm", "{gold}", "{out}"], "Adapting an encoder"),
        (["export", "clinical-trials", "{out}", "--int8"], "Exporting"),
        (["bench"], "The benchmark"),
        (["demo", "--out", "{out}"], "The demo, which trains a model,"),
        (["predict", "--text", "p", "--runtime", "torch"], "Running this model in torch"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_needs_torch_says_so_in_a_sentence(arguments: list[str], what: str, gold: Path, tmp_path: Path) -> None:
    done = run(COMMAND, *(argument.format(gold=gold, out=tmp_path / "out") for argument in arguments))
    assert done.returncode == 1
    assert f"{what} needs packages that are not installed: torch, transformers" in done.stderr
    assert done.stderr.rstrip().endswith("Install them: pip install 'disconer[train]'.")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_model_without_graphs_says_what_to_do(tmp_path: Path) -> None:
    save_model(letter_model(), tmp_path)
    write_graphs(tmp_path, NoGraphs("its head is new"))
    done = run(COMMAND, "predict", "--text", "p in my k", "--model", tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"error: {tmp_path}: Running this model in torch needs packages that are not installed: torch, transformers. "
        "Got no graph for ONNX Runtime (its head is new). Install them: pip install 'disconer[train]'.\n"
    )


def test_importing_disconer_imports_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "accelerate", "onnxruntime", "tokenizers")
    done = run(f"import sys, disconer; print([name for name in {heavy!r} if name in sys.modules])")
    assert done.stdout == "[]\n"


def test_predicting_imports_no_torch_even_where_it_is() -> None:
    code = (
        "import sys; from disconer import Recognizer; Recognizer.from_pretrained('clinical-trials')('a rash'); "
        f"print([name for name in {ABSENT!r} if name in sys.modules])"
    )
    assert run(code).stdout == "[]\n"


def test_the_core_needs_none_of_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    core, train = (
        {re.split(r"[^\w-]", one)[0] for one in listed}
        for listed in (project["dependencies"], project["optional-dependencies"]["train"])
    )
    assert not core & set(ABSENT)
    assert train == set(ABSENT)
