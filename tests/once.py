"""What is costly to make and is not changed by tests: made by one worker of a session, and read by all."""

from __future__ import annotations

import fcntl
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import pytest

from disconer.export import stored
from disconer.export.stored import make_graphs
from disconer.store.checkpoint import Model
from disconer.store.graphs import NoGraphs, StoredGraphs
from disconer.training import training_run

T = TypeVar("T")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], T]) -> T:
    """What `make` returns; it is called in one worker, with a folder that all of them may read.

    name: of what is made, in the whole session.
    """
    own = factory.getbasetemp()
    folder = (own.parent if own.name.startswith("popen-") else own) / "once" / name
    folder.mkdir(parents=True, exist_ok=True)
    returned = folder / ".returned"
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not returned.is_file():
            returned.write_bytes(pickle.dumps(make(folder)))
    made: T = pickle.loads(returned.read_bytes())
    return made


def files_of(folder: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of every file of a folder, by which a change is seen."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def graphs_once(factory: pytest.TempPathFactory, model: Model) -> StoredGraphs | NoGraphs:
    """The graphs of a model, which take seconds to trace. They hold no weights: models of one structure share them."""
    return made_once(factory, f"graphs-{structure(model)}", lambda _: make_graphs(model))


class NoGraphsAhead:
    """See `GraphsAhead`."""

    def of(self, model: Model) -> NoGraphs:
        return NoGraphs("this test needs none")


@pytest.fixture(autouse=True, scope="package")
def trainings_make_no_graphs() -> Iterator[None]:
    """For the conftest of tests that train: graphs take longer to trace than a toy takes to learn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_run, "graphs_ahead", lambda folder, now: nullcontext(NoGraphsAhead()))
        yield


@pytest.fixture(scope="module")
def graphs_are_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For tests of models with graphs: those of a run, and of `export --compact`, are traced once a structure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_run, "graphs_ahead", stored.graphs_ahead)
        patch.setattr(stored, "make_graphs", partial(graphs_once, tmp_path_factory))
        yield


def with_graphs_once(factory: pytest.TempPathFactory, model: Model) -> Model:
    return replace(model, graphs=graphs_once(factory, model))


def structure(model: Model) -> str:
    """A digest of all that the graphs of a model depend on: not on its weights, nor on the names of its labels."""
    network, config = model.network, model.config.to_dict()
    del config["encoder"]["name"]
    transformer = getattr(network.words.encoder, "transformer", None)
    stored = network.state_dict()
    described = {
        "modules": repr(network),
        "settings": [config["encoder"], config["head"], config["syntax"]["gcn"]],
        "transformer": transformer and {**transformer.config.to_dict(), "_name_or_path": None, "dtype": None},
        "weights": [(name, str(weight.dtype), list(weight.shape)) for name, weight in stored.items()],
        "not stored": [(name, buffer.tolist()) for name, buffer in network.named_buffers() if name not in stored],
        "reading": [model.max_subwords, model.reader.padding, list(model.reader.prefix.shape)],
    }
    return blake2b(json.dumps(described, default=str).encode(), digest_size=12).hexdigest()
