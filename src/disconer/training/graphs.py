"""The graphs of a run's models, made by another process while a GPU trains: tracing takes as long as several epochs.

Graphs have no weights, so those of the untrained network are the same. The process is
`python -m disconer.training.graphs MODEL OUT`. It writes to a folder that no other run has: if a run is killed, its
process goes on for a while.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from disconer.export.stored import make_graphs
from disconer.store.checkpoint import Model, load_model
from disconer.store.graphs import UNKNOWN, NoGraphs, StoredGraphs, read_graphs, write_graphs

WITHOUT_GPU = {"CUDA_VISIBLE_DEVICES": ""}


class GraphsAhead:
    """The graphs that a process writes to a folder. process: None, if they are made when they are asked for."""

    def __init__(self, process: subprocess.Popen[bytes] | None = None, out: Path = Path()) -> None:
        self._process, self._out = process, out

    def of(self, model: Model) -> StoredGraphs | NoGraphs:
        """The graphs of a model that differs from that of the process in weights alone."""
        if self._process is not None and self._process.wait() == 0:
            made = read_graphs(self._out)
            if made is not UNKNOWN:
                return made
        return make_graphs(model)


@contextmanager
def graphs_ahead(folder: Path, *, now: bool) -> Iterator[GraphsAhead]:
    """The graphs of the model in a folder. now: start another process for them; else they are made when asked for."""
    if not now:
        yield GraphsAhead()
        return
    nowhere = subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="disconer-") as out:
        command = [sys.executable, "-m", "disconer.training.graphs", str(folder), out]
        process = subprocess.Popen(command, env=os.environ | WITHOUT_GPU, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        try:
            yield GraphsAhead(process, Path(out))
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()


if __name__ == "__main__":
    write_graphs(Path(sys.argv[2]), make_graphs(load_model(Path(sys.argv[1]))))
