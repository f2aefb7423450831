from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from disconer import DisconerError, Document, Entity, write
from disconer.bench import measurements
from disconer.bench.prediction import Startup
from disconer.bench.timing import Timing
from disconer.cli import app
from disconer.store.checkpoint import save_model
from nn.toy import letter_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(letter_model(positions=256), folder)
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write([Document("a", "p in my k\nno k", (Entity("ADR", [(0, 1)]),))], tmp_path / "notes.jsonl")
    return tmp_path / "notes.jsonl"


@pytest.fixture(autouse=True)
def default_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCONER_MODEL", str(model))


def run(*arguments: object) -> Result:
    command = ["bench", "--repeats", "1", "--device", "cpu", *map(str, arguments)]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def test_tables(notes: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them; the processes that are timed are those of tests/bench."""
    timed = {"torch": Startup(Timing((2.0,)), memory=300.0)}
    started: list[Path] = []
    monkeypatch.setattr(measurements, "measure_startup", lambda folder, *_, **__: started.append(folder) or timed)
    shown = run("--data", notes).stdout
    assert shown.startswith(f"model {model}, fp32, on CPU")
    for what in ("Many sentences", "One sentence at a time", "Start of a process", "Stages", "Training", "Memory"):
        assert what in shown
    assert started == [model]


def test_json_of_some_parts(notes: Path, model: Path) -> None:
    found = json.loads(run("--data", notes, "--only", "memory, training", "--no-training", "--json").stdout)
    assert found["model"] == str(model)
    assert [part for part in ("throughput", "latency", "stages", "memory", "training") if found[part]] == ["memory"]


def test_the_demos_sentences_are_the_default() -> None:
    found = json.loads(run("--only", "memory", "--limit", "20", "--json").stdout)
    assert 20 <= found["sample"]["sentences"] < 60


def test_the_bare_encoder_takes_the_models_precision(notes: Path) -> None:
    settings = json.loads(run("--data", notes, "--only", "memory", "--precision", "bf16", "--json").stdout)["settings"]
    assert (settings["precision"], settings["encoder_precision"]) == ("bf16", "bf16")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "speed"], "Unknown value for --only: 'speed'. Expected one of throughput, latency"),
        (["--precision", "fp8"], "Unknown value for --precision: 'fp8'"),
        (["--precision", "int8", "--runtime", "torch"], "torch does not run a model in int8"),
        (["--encoder-precision", "int8"], "Unknown value for --encoder-precision: 'int8'"),
        (["--clock", "sun"], "Unknown value for --clock: 'sun'"),
        (["--device", "warp"], "This machine has no device 'warp' that torch can use"),
        (["--data", "nowhere"], "There is no such file or folder"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], message: str) -> None:
    with pytest.raises(DisconerError, match=re.escape(message)):
        run(*arguments)


def test_help() -> None:
    shown = CliRunner().invoke(app, ["bench", "--help"]).stdout
    assert "bare encoder" in shown
