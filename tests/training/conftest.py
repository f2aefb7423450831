"""Runs that tests of training share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from disconer.config import Config
from disconer.training import TrainingResult, train
from once import files_of, made_once, trainings_make_no_graphs
from training.synthetic import complaints, prepare

__all__ = ["trainings_make_no_graphs"]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    """The order in which numbers are added up must not change from one run to the next."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@dataclass(frozen=True)
class Run:
    config: Config
    out: Path
    result: TrainingResult


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A small run from beginning to end, not to be changed: all workers read it at the same time."""
    run = made_once(tmp_path_factory, "unbroken", _run)
    before = files_of(run.out)
    yield run
    assert files_of(run.out) == before, "a test wrote into the run that all workers share: take `finished` there"


@pytest.fixture
def finished(unbroken: Run, tmp_path: Path) -> Run:
    """A copy of that run, to go on with."""
    return replace(unbroken, out=shutil.copytree(unbroken.out, tmp_path / "finished"))


def _run(folder: Path) -> Run:
    documents = complaints(16)
    rates = {"encoder_rate": 2e-3, "head_rate": 1e-2, "adversarial": 0.0}
    config = prepare(folder, documents, documents, epochs=2, batch_tokens=8, **rates)
    return Run(config, folder / "run", train(config, folder / "run"))
