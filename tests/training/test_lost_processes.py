"""A process that is killed among several."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from disconer.training import train
from training.launch import ENVIRONMENT, PATIENCE, accumulating, assert_close, torchrun, training
from training.synthetic import complaints, prepare
from training.test_resume import metrics

SECONDS_TO_START = 90

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes as Linux lists them"),
]


def test_torchrun_starts_again_then_gives_up_and_resuming_finishes(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(200), complaints(7, seed=2), epochs=6)
    out = tmp_path / "run"
    command = torchrun(2, "--max-restarts=1", *training(config, out, graphs=True), "--resume")
    launcher = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    kill_process(1, launcher.pid, after_epoch=1, out=out)
    kill_process(1, launcher.pid, after_epoch=2, out=out)
    _, said = launcher.communicate(timeout=PATIENCE)
    assert launcher.returncode == 1
    assert "resumed after epoch 1" in said
    assert "Signal 9 (SIGKILL)" in said.partition("Root Cause")[2]
    assert "error:" not in said  # who only lost the other leaves the word to torchrun

    assert 2 <= len(metrics(out)) < 6
    train(accumulating(config, 2), out, resume=True)
    train(accumulating(config, 2), tmp_path / "unbroken")
    assert_close(out, tmp_path / "unbroken")


def kill_process(rank: int, launcher: int, *, after_epoch: int, out: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not (out / "metrics.jsonl").is_file() or len(metrics(out)) < after_epoch:
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.01)
    time.sleep(0.1)  # into the next epoch
    while not (found := [child for child in children(launcher) if f"RANK={rank}" in environment(child)]):
        assert time.monotonic() < deadline, "torchrun does not start it again"
        time.sleep(0.01)
    os.kill(found[0], signal.SIGKILL)


def children(process: int) -> list[int]:
    listed = (path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children"))
    return [int(child) for line in listed for child in line.split()]


def environment(process: int) -> list[str]:
    return Path(f"/proc/{process}/environ").read_text().split("\0")
