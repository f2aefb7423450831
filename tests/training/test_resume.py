"""Runs that are killed, and resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from disconer import DisconerError
from disconer.config import config_from_dict, dump_config
from disconer.core.files import locked
from disconer.predict.recognizer import Recognizer
from disconer.runs.processes import LOCK
from disconer.store.checkpoint import Model
from disconer.training import train
from disconer.training.display import Display
from disconer.training.state import EpochEnd, RunFolder
from once import files_of
from training.conftest import Run
from training.synthetic import complaints, prepare

pytestmark = pytest.mark.slow

TIMES = ("seconds", "train_seconds")
SECONDS_TO_START = 90


def metrics(run: Path) -> list[dict[str, Any]]:
    """The records of a run, without what no two runs share."""
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in lines]


def assert_same_result(run: Path, other: Path) -> None:
    assert metrics(run) == metrics(other)
    for model in ("best", "last"):
        weights, expected = (load_file(path / model / "model.safetensors") for path in (run, other))
        torch.testing.assert_close(weights, expected, rtol=0, atol=0)


def test_a_killed_run_goes_on_to_the_same_result(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(200), complaints(10, seed=2), epochs=3)
    train(config, tmp_path / "unbroken")
    (tmp_path / "config.yaml").write_text(dump_config(config))
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "disconer", "train", str(tmp_path / "config.yaml"), "--out", str(out)]
    process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
    _wait_for_epoch(1, out)
    time.sleep(0.2)  # into the next epoch
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 1 <= len(metrics(out)) < 3
    assert Recognizer.from_pretrained(out).labels == ("ADR", "Drug")

    train(config, out, resume=True)
    assert_same_result(out, tmp_path / "unbroken")


def test_a_run_that_ends_while_another_waits_for_the_folder_is_not_resumed_unasked(
    unbroken: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def after_the_other(folder: Path, _: object) -> Iterator[None]:
        shutil.copytree(unbroken.out, folder, dirs_exist_ok=True)
        yield

    monkeypatch.setattr("disconer.training.training_run.alone_in", after_the_other)
    with pytest.raises(DisconerError, match="already holds a training run"):
        train(unbroken.config, tmp_path / "run")


def _wait_for_epoch(epoch: int, out: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not (out / "metrics.jsonl").is_file() or len(metrics(out)) < epoch:
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.01)


class Killed(BaseException):
    """Stands for the end of the process."""


def kill_at(moment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Die just before the file numbered `moment` would take its name."""
    replace, count = os.replace, 0

    def dying_replace(*arguments: Any, **options: Any) -> None:
        nonlocal count
        count += 1
        if count == moment:
            raise Killed
        replace(*arguments, **options)

    monkeypatch.setattr(os, "replace", dying_replace)


@pytest.mark.parametrize("moment", [1, 4, 9, 12, 15, 17, 18, 21])  # before the first epoch, and around its end
def test_killed_between_any_two_files(
    moment: int, unbroken: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as context:
        kill_at(moment, context)
        with pytest.raises(Killed):
            train(unbroken.config, out)
    if (out / "training.pt").is_file():
        Recognizer.from_pretrained(out)
    train(unbroken.config, out, resume=True)
    assert_same_result(out, unbroken.out)


def test_the_best_model_is_of_an_epoch_that_the_state_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before any of the files of the second epoch, which is the best: what is learnt again may be worse."""
    config = prepare(tmp_path, complaints(8), complaints(8), epochs=2, encoder_rate=1e-6, head_rate=1e-6)
    out, save = tmp_path / "run", RunFolder.save

    def killed_before_state(folder: RunFolder, model: Model, end: EpochEnd) -> None:
        with monkeypatch.context() as context:
            if len(end.history) == 2:
                context.setattr("disconer.training.state.save_state", dying)
            save(folder, model, end)

    def dying(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as context:
        context.setattr(RunFolder, "save", killed_before_state)
        with pytest.raises(Killed):
            train(config, out)
    state = torch.load(out / "training.pt", weights_only=True)
    assert len(state["history"]) == 1
    torch.testing.assert_close(load_file(out / "best" / "model.safetensors"), state["network"], rtol=0, atol=0)


def test_a_state_without_its_best_model_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = prepare(tmp_path, complaints(8), complaints(8), epochs=2, encoder_rate=1e-6, head_rate=1e-6)
    out = tmp_path / "run"

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as context:
        context.setattr(RunFolder, "save_best", killed)
        with pytest.raises(Killed):
            train(config, out)
    assert not (out / "best").exists()
    with monkeypatch.context() as context:
        context.setattr(Display, "measuring", dying_in_epoch(2))
        with pytest.raises(Killed):
            train(config, out, resume=True)
    weights = torch.load(out / "training.pt", weights_only=True)["network"]
    torch.testing.assert_close(load_file(out / "best" / "model.safetensors"), weights, rtol=0, atol=0)


def test_killed_in_an_epoch_of_several_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = prepare(tmp_path, complaints(16), complaints(16), epochs=2, batch_tokens=32, steps_at_least=24)
    train(config, tmp_path / "unbroken")
    with monkeypatch.context() as context:
        context.setattr(Display, "measuring", dying_in_epoch(2))
        with pytest.raises(Killed):
            train(config, tmp_path / "killed")
    assert len(metrics(tmp_path / "killed")) == 1
    train(config, tmp_path / "killed", resume=True)
    assert_same_result(tmp_path / "killed", tmp_path / "unbroken")


def dying_in_epoch(last: int) -> Callable[[Display, int], None]:
    """In place of what shows that an epoch is learnt and will be measured."""

    def measuring(_: Display, epoch: int) -> None:
        if epoch == last:
            raise Killed

    return measuring


def test_a_finished_run_only_reports(finished: Run) -> None:
    state = finished.out / "training.pt"
    before = state.stat().st_mtime_ns
    result = train(finished.config, finished.out, resume=True)
    assert result.dev.to_dict() == finished.result.dev.to_dict()
    assert state.stat().st_mtime_ns == before


def test_scores_are_scaled_once(unbroken: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disconer.nn.scores.FEWEST", 1)
    out = tmp_path / "run"
    scales = []
    for resume in (False, True):
        train(unbroken.config, out, resume=resume)
        scales.append(json.loads((out / "best" / "config.json").read_text("utf-8"))["scores"])
    assert scales[0] == scales[1] != {"slope": 1.0, "offset": 0.0}


def test_other_settings_are_refused_by_name(finished: Run) -> None:
    values = finished.config.to_dict()
    values["training"] |= {"seed": 2, "epochs": 9}
    with pytest.raises(DisconerError, match=r"training\.epochs 9, not 2; training\.seed 2, not 1") as refused:
        train(config_from_dict(values), finished.out, resume=True)
    command = f"disconer train {finished.out}/config.yaml --out {finished.out} --resume"
    assert f"To continue it as it was started: {command}." in str(refused.value)
    assert "seed: 1" in (finished.out / "config.yaml").read_text("utf-8")


def test_a_step_keeps_its_batches(finished: Run) -> None:
    values = finished.config.to_dict()
    values["training"]["accumulate"] = 2
    with pytest.raises(DisconerError, match=r"batches per step \(processes times training\.accumulate\) 2, not 1"):
        train(config_from_dict(values), finished.out, resume=True)


def test_data_may_move_but_not_change(finished: Run, tmp_path: Path) -> None:
    values = finished.config.to_dict()
    values["data"]["train"] = shutil.copy(finished.config.data.train, tmp_path)
    moved = config_from_dict(values)
    train(moved, finished.out, resume=True)
    with open(moved.data.train, "a", encoding="utf-8") as stream:
        stream.write('{"id": "new", "text": "a new one"}\n')
    with pytest.raises(DisconerError, match=r"content of data\.train \w{8}, not \w{8}\.") as refused:
        train(moved, finished.out, resume=True)
    assert "To continue it" not in str(refused.value)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
@pytest.mark.parametrize("how", ["resume", "force"])
def test_a_run_at_work_is_left_alone(how: str, finished: Run) -> None:
    before = files_of(finished.out)
    refused = pytest.raises(DisconerError, match="Another run is writing to this folder")
    with locked(finished.out / LOCK, remove=True), refused:
        train(finished.config, finished.out, **{how: True})
    assert files_of(finished.out) == before
    train(finished.config, finished.out, **{how: True})
    assert files_of(finished.out).keys() == before.keys()


def test_damaged_state(finished: Run) -> None:
    state = finished.out / "training.pt"
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(DisconerError, match="cannot be resumed: its state is damaged"):
        train(finished.config, finished.out, resume=True)


def test_nothing_there_to_resume_is_a_new_run(unbroken: Run, tmp_path: Path) -> None:
    train(unbroken.config, tmp_path / "run", resume=True)
    assert_same_result(tmp_path / "run", unbroken.out)
