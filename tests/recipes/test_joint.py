"""One network for several corpora: what is shared, what is not, and that a training can start from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from disconer.config import config_from_dict, dump_config
from disconer.core.types import Document, Entity
from disconer.store.checkpoint import load_model
from disconer.training.data import read_data
from disconer.training.training_run import first_model
from training.synthetic import complaints, prepare

pytestmark = pytest.mark.slow

JOINT = Path(__file__).parents[2] / "recipes" / "joint.py"
LABEL_LAYERS = {"head.grid.output.weight", "head.grid.output.bias", "head.grid.biaffine.matrices"}


def renamed(document: Document) -> Document:
    return document.replace(entities=tuple(Entity(f"{one.label}-2", one.fragments) for one in document.entities))


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora with other labels, and the models of a short joint training on them."""
    folder = tmp_path_factory.mktemp("joint")
    configs = []
    for name, documents in (("first", complaints(40)), ("second", list(map(renamed, complaints(40, seed=2))))):
        (folder / name).mkdir()
        values = prepare(folder / name, documents, documents[:10]).to_dict()
        values["encoder"]["name"] = str(folder / "first" / "encoder")
        values["head"] = {"kind": "grid", "channels": 8, "biaffine": 8, "hidden": 8}
        configs.append(folder / f"{name}.yaml")
        configs[-1].write_text(dump_config(config_from_dict(values)))
    settings = ["--set", "training.batch_tokens=256", "--set", "training.encoder_rate=1e-3"]
    command = [sys.executable, JOINT, folder / "out", *configs, "--epochs", "3", *settings]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    losses = [float(line.split()[3]) for line in done.stdout.splitlines() if line.startswith("epoch")]
    assert losses[2] < losses[1] < losses[0]
    return folder


def test_all_is_shared_but_what_depends_on_labels(joint: Path) -> None:
    first, second = (load_model(joint / "out" / name).network.state_dict() for name in ("first", "second"))
    differing = {name for name in first if not torch.equal(first[name], second[name])}
    assert differing == LABEL_LAYERS


def test_a_training_starts_from_it(joint: Path) -> None:
    values = config_from_dict(load_model(joint / "out" / "first").config.to_dict()).to_dict()
    values["training"]["start_from"] = str(joint / "out" / "second")
    config = config_from_dict(values)
    model, notes = first_model(config, read_data(config.data))
    start = load_model(joint / "out" / "second").network.state_dict()
    own = model.network.state_dict()
    assert {name for name in own if own[name].shape == start[name].shape and torch.equal(own[name], start[name])} == {
        name for name in own if name not in LABEL_LAYERS
    }
    assert "labels reused: none; new: ADR, Drug" in notes[1]
