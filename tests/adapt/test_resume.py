"""Runs that are broken off, and resumed; and several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from adapt.test_adaptation import metrics
from adapt.tiny import quick
from disconer import DisconerError
from disconer.adapt import adapt
from disconer.adapt.adaptation import Adaptation
from disconer.adapt.loop import Loop
from disconer.core.files import locked
from disconer.nn.encoders.transformer.pretrained import load_encoder
from disconer.runs.processes import LOCK

PATIENCE = 180  # seconds


class Killed(BaseException):
    """Stands for the end of the process."""


def break_off_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_step, count = Loop._step, 0

    def dying_step(self: Loop, tensors: Any) -> Any:
        nonlocal count
        count += 1
        if count == step:
            raise Killed
        return whole_step(self, tensors)

    monkeypatch.setattr(Loop, "_step", dying_step)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"dropout": True}, {"words": 3, "case": True}])
def test_a_broken_run_goes_on_to_the_same_result(
    more: dict[str, Any], encoder: str, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken up.txt").write_text("Stiffness of Hands, kneepain and HEPATICFAILURE. " * 60)
    all_texts = [texts, tmp_path / "broken up.txt"]
    settings = quick(steps=50, save_minutes=0, **more)
    unbroken = adapt(encoder, all_texts, tmp_path / "unbroken", settings)
    with monkeypatch.context() as context:
        break_off_at(33, context)
        with pytest.raises(Killed):
            adapt(encoder, all_texts, tmp_path / "broken", settings)
    assert not (tmp_path / "broken" / "config.json").exists()
    resumed = adapt(encoder, all_texts, tmp_path / "broken", settings, resume=True)
    assert metrics(resumed.folder) == metrics(unbroken.folder)
    assert resumed.perplexity_after == unbroken.perplexity_after
    about = [{file.name for file in (run.folder / "adaptation").iterdir()} for run in (resumed, unbroken)]
    assert about[0] == about[1]
    assert ("words.txt" in about[0]) is ("words" in more)
    weights, expected = (load_file(run.folder / "model.safetensors") for run in (resumed, unbroken))
    torch.testing.assert_close(weights, expected, rtol=0, atol=0)
    assert adapt(encoder, all_texts, tmp_path / "broken", settings, resume=True) == resumed  # nothing left to do


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_folder_that_another_run_writes_to_is_left_alone(encoder: str, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with locked(out / LOCK), pytest.raises(DisconerError, match="Another run is writing to this folder"):
        adapt(encoder, [texts], out, quick(steps=1))
    assert [file.name for file in out.iterdir()] == [LOCK]
    adapt(encoder, [texts], out, quick(steps=1))
    assert not (out / LOCK).exists()


def test_other_settings_are_refused(encoder: str, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as context:
        break_off_at(25, context)
        with pytest.raises(Killed):
            adapt(encoder, [texts], tmp_path / "run", quick(save_minutes=0))
    with pytest.raises(DisconerError, match=r"started with other settings.*mask 0\.3, not 0\.15"):
        adapt(encoder, [texts], tmp_path / "run", quick(save_minutes=0, mask=0.3), resume=True)
    (tmp_path / "run" / "adaptation" / "state.pt").write_bytes(b"PK")
    with pytest.raises(DisconerError, match="its state is damaged"):
        adapt(encoder, [texts], tmp_path / "run", quick(save_minutes=0), resume=True)


def torchrun(n_processes: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`disconer adapt` in several processes."""
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_processes), "-m", "disconer"]
    done = subprocess.run(
        [sys.executable, *start, "adapt", *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_two_processes_are_one(encoder: str, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("Stiffness of Hands, kneepain and HEPATICFAILURE. " * 60)
    one = adapt(encoder, [texts, tmp_path / "more.txt"], tmp_path / "one", quick(steps=30, words=3, case=True))
    sizes = ["--steps=30", "--batch=8", "--length=32", "--rate=5e-3", "--held-out=0.2", "--at-once=4"]
    done = torchrun(2, encoder, texts, tmp_path / "more.txt", tmp_path / "two", *sizes, "--words=3", "--case")
    assert done.stderr.count("words: 3 added to the vocabulary") == 1  # one counts and speaks for both
    assert done.stderr.count("the encoder is in") == 1
    for record, expected in zip(metrics(tmp_path / "two"), metrics(one.folder), strict=True):
        torch.testing.assert_close(record, expected, rtol=1e-4, atol=1e-6)
    weights, expected_weights = (load_file(tmp_path / run / "model.safetensors") for run in ("two", "one"))
    torch.testing.assert_close(weights, expected_weights, rtol=1e-3, atol=1e-4)


def test_the_encoder_is_saved_before_it_is_measured(
    encoder: str, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, count = Adaptation._perplexity, 0

    def dying_measure(self: Adaptation, progress: Any) -> float | None:
        nonlocal count
        count += 1
        if count == 2:
            raise Killed
        return measure(self, progress)

    monkeypatch.setattr(Adaptation, "_perplexity", dying_measure)
    with pytest.raises(Killed):
        adapt(encoder, [texts], tmp_path / "adapted", quick(steps=20, save_minutes=0))
    load_encoder(str(tmp_path / "adapted"))
    assert "| held-out perplexity, after | not measured |" in (tmp_path / "adapted" / "README.md").read_text()
    monkeypatch.undo()
    result = adapt(encoder, [texts], tmp_path / "adapted", quick(steps=20, save_minutes=0), resume=True)
    assert (result.steps, result.perplexity_after is None) == (20, False)


@pytest.mark.slow
def test_two_processes_go_by_one_clock(encoder: str, texts: Path, tmp_path: Path) -> None:
    torchrun(2, encoder, texts, tmp_path / "two", "--minutes=20", "--steps=10", "--batch=8", "--length=32")
    record = metrics(tmp_path / "two")[-1]
    assert record["step"] == 10
    assert 0 < record["rate"] < 1e-4  # of 5e-4
