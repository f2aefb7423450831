"""Several processes, as `torchrun` starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from disconer.config import config_from_dict, dump_config
from disconer.training import train
from training.synthetic import complaints, prepare
from training.test_resume import metrics

PATIENCE = 180  # seconds


def test_two_processes_are_one_that_accumulates(tmp_path: Path) -> None:
    # 21 sentences, 5 dev documents: neither the last step nor the evaluation divides evenly.
    config = prepare(tmp_path, complaints(21), complaints(5), epochs=2, encoder_rate=2e-3, head_rate=1e-2)
    (tmp_path / "config.yaml").write_text(dump_config(config))
    two, one = tmp_path / "two", tmp_path / "one"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    done = subprocess.run(
        [*torchrun, "disconer", "train", str(tmp_path / "config.yaml"), "--out", str(two)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\nepoch   1 ") == 1  # one speaks for both
    assert done.stdout.count("Entities of 5 documents") == 1

    values = config.to_dict()
    values["training"]["accumulate"] = 2
    accumulating = config_from_dict(values)
    train(accumulating, one)
    train(accumulating, two, resume=True)  # one process may go on where two were
    for record, expected in zip(metrics(two), metrics(one), strict=True):
        torch.testing.assert_close(record, expected, rtol=1e-4, atol=1e-6)
    for model in ("best", "last"):
        weights, expected = (load_file(run / model / "model.safetensors") for run in (two, one))
        torch.testing.assert_close(weights, expected, rtol=1e-4, atol=1e-5)
