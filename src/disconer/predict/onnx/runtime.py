"""Networks run by ONNX Runtime. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from disconer.config import HeadSettings
from disconer.core.background import made_ahead
from disconer.core.cores import chosen_threads
from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import kind_of
from disconer.nn.runtime import RuntimeName
from disconer.nn.windows import Found
from disconer.predict.onnx.sessions import Sessions
from disconer.store.graphs import NETWORK

BATCH_SUBWORDS = 2**8  # larger batches do not fit into a core's cache and are slower
BATCH_CELLS = 2**18
BATCH_OVERHEAD = 24  # in subwords: the fixed cost of running the graph


class OnnxRuntime:
    """Runs the graphs of a network. See `Runtime`."""

    name: RuntimeName = "onnx"
    device = "cpu"
    batch_subwords = BATCH_SUBWORDS
    batch_cells = BATCH_CELLS
    batch_overhead = BATCH_OVERHEAD
    size_multiple = 1

    def __init__(self, sessions: Sessions, head: HeadSettings, labels: Sequence[str]) -> None:
        self._threads = n_threads()
        self._network = sessions[NETWORK]
        further = {name: session for name, session in sessions.items() if name != NETWORK}
        self._reader = kind_of(head).reader(head, labels, graphs=further)
        self._near_reader = partial(kind_of(head).near_reader, head, labels, graphs=further)

    def near(self) -> OnnxRuntime:
        """See `NearRuntime`."""
        other = copy(self)
        other._reader = self._near_reader()
        return other

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`. Each thread has its own batch: sharing one, they would mostly wait for each other.

        A single batch is not worth starting threads for.
        """
        if self._threads == 1 or (isinstance(batches, Sized) and len(batches) == 1):
            return map(self._find, batches)
        return made_ahead(self._find, batches, ahead=self._threads, threads=self._threads)

    def _find(self, batch: WordArrays) -> list[list[Found]]:
        scores = self._network(self._feed(batch))
        return self._reader.read(dict(zip(self._network.outputs, scores, strict=True)), batch)

    def _feed(self, batch: WordArrays) -> dict[str, Any]:
        """The network's inputs, without those that its graph has no use for."""
        made = {"lengths": batch.lengths.astype(np.int32), **self._reader.inputs(batch)}
        return {name: made[name] if name in made else getattr(batch, name) for name in self._network.inputs}


def n_threads() -> int:
    """$OMP_NUM_THREADS, or the number of processors available to this process."""
    return chosen_threads()
