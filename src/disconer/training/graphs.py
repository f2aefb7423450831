"""The graphs of a run's models, made by another process while a GPU trains: tracing takes as long as several epochs.

Graphs have no weights, so those of the untrained network are the same. The process is
`python -m disconer.training.graphs FOLDER`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from disconer.export.stored import make_graphs
from disconer.store.checkpoint import Model, load_model
from disconer.store.graphs import UNKNOWN, NoGraphs, StoredGraphs, read_graphs, write_graphs

WITHOUT_GPU = {"CUDA_VISIBLE_DEVICES": ""}


class GraphsAhead:
    """Makes the graphs of the model in a folder. process: None, if they are made when they are asked for."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes] | None) -> None:
        self._folder, self._process = folder, process

    def of(self, model: Model) -> StoredGraphs | NoGraphs:
        """The graphs of a model that differs from that in the folder in weights alone."""
        if self._process is not None and self._process.wait() == 0:
            made = read_graphs(self._folder)
            if made is not UNKNOWN:
                return made
        return make_graphs(model)


@contextmanager
def graphs_ahead(folder: Path, *, now: bool) -> Iterator[GraphsAhead]:
    """now: start another process for them; else they are made when they are asked for."""
    if not now:
        yield GraphsAhead(folder, None)
        return
    command = [sys.executable, "-m", "disconer.training.graphs", str(folder)]
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, env=os.environ | WITHOUT_GPU, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    try:
        yield GraphsAhead(folder, process)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    write_graphs(place, make_graphs(load_model(place)))
