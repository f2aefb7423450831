"""Runs of several processes, as `torchrun` starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from disconer.config import Config, config_from_dict, dump_config
from training.test_resume import metrics

PATIENCE = 180  # seconds
WITHOUT_GRAPHS = Path(__file__).with_name("without_graphs.py")
WEIGHT_TOLERANCE = 1e-5  # relative; rounding comes to 1e-6
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def torchrun(n_processes: int, *command: str) -> list[str]:
    """`command` is what torchrun is given beyond the number of processes on this machine."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={n_processes}"]
    return [*launcher, *command]


def training(config: Config, out: Path, *, graphs: bool = False) -> list[str]:
    """The program that torchrun is to run, and its arguments; the configuration goes beside the run.

    graphs: by the command itself, which makes graphs at the end.
    """
    path = out.with_suffix(".yaml")
    path.write_text(dump_config(config))
    program = ["-m", "disconer"] if graphs else [str(WITHOUT_GRAPHS)]
    return [*program, "train", str(path), "--out", str(out)]


def launch(n_processes: int, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        torchrun(n_processes, *command), env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def accumulating(config: Config, batches: int) -> Config:
    """The configuration by which one process does what so many do together."""
    values = config.to_dict()
    values["training"]["accumulate"] = batches
    return config_from_dict(values)


def assert_close(run: Path, other: Path) -> None:
    """The same records and models, but for the order in which numbers were added up."""
    for record, expected in zip(metrics(run), metrics(other), strict=True):
        torch.testing.assert_close(record, expected, rtol=1e-4, atol=1e-6)
    for model in ("best", "last"):
        weights, expected = (all_weights(path / model / "model.safetensors") for path in (run, other))
        # As a whole: where a gradient is near zero, Adam makes as large a step of its rounding as of anything.
        assert torch.dist(weights, expected) <= WEIGHT_TOLERANCE * torch.linalg.norm(expected)


def all_weights(path: Path) -> torch.Tensor:
    """All numbers of a model in a row."""
    return torch.cat([weights.flatten().double() for _, weights in sorted(load_file(path).items())])
