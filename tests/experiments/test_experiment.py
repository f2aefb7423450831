"""Experiments that train, are killed, and go on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from disconer import write
from disconer.config import dump_config
from training.synthetic import complaints, prepare

pytestmark = pytest.mark.slow

# Heads without graphs, which would take longer to trace than the rest.
STUDY = """
name: tiny
defaults: {config: config.yaml, data.test: DATA/test.jsonl}
axes:
  head: {stack: {head.kind: transition}, wrong: {head.scheme: BIO}, both: {head.kind: combined}}
  seed: [1]
"""
SAME = ("figures.csv", "differences.csv")  # the rest has times
SECONDS_TO_START = 300


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rates = {"encoder_rate": 2e-3, "head_rate": 1e-2, "adversarial": 0.0}
    config = prepare(tmp_path, complaints(24), complaints(12, seed=2), epochs=3, batch_tokens=48, **rates)
    write(complaints(16, seed=3), tmp_path / "test.jsonl")
    (tmp_path / "config.yaml").write_text(dump_config(config))
    (tmp_path / "study.yaml").write_text(STUDY.replace("DATA", str(tmp_path)))
    return tmp_path / "study.yaml"


def command(study: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "disconer", "experiment", str(study), "--out", str(out), "--jobs", "2"]


ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def test_killed_at_any_moment_it_goes_on_to_the_same_table(study: Path, tmp_path: Path) -> None:
    unbroken = subprocess.run(command(study, tmp_path / "unbroken"), env=ENVIRONMENT, capture_output=True, text=True)
    assert unbroken.returncode == 1  # one run cannot be trained
    assert "a setting of head.kind tagger" in unbroken.stdout

    out = tmp_path / "killed"
    process = subprocess.Popen(
        command(study, out),
        env=ENVIRONMENT,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + SECONDS_TO_START
    while not (out / "runs" / "stack" / "1" / "training.pt").is_file():
        assert time.monotonic() < deadline, "the experiment does not get on"
        time.sleep(0.05)
    seconds = random.uniform(0, 3)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)  # with its trainings
    process.wait()

    resumed = subprocess.run(command(study, out), env=ENVIRONMENT, capture_output=True, text=True)
    table = resumed.stdout.partition("The report is in")[0]
    assert table == unbroken.stdout.partition("The report is in")[0], f"killed after {seconds} s"
    for name in SAME:
        assert (out / "report" / name).read_text() == (tmp_path / "unbroken" / "report" / name).read_text()
