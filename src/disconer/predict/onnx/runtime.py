"""Networks run by ONNX Runtime. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from disconer.config import HeadSettings
from disconer.core.background import made_ahead
from disconer.core.cores import chosen_threads
from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import ONNX_GRAPH
from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import kind_of
from disconer.nn.windows import Found
from disconer.store.exported import HEAD_ARRAYS, ONNX

BATCH_SUBWORDS = 2**8  # larger batches do not fit into a core's cache and are slower
BATCH_CELLS = 2**18
BATCH_OVERHEAD = 24  # in subwords: the fixed cost of running the graph
ONLY_ERRORS = 3  # of the levels of ONNX Runtime's messages


class OnnxRuntime:
    """Runs an exported network. See `Runtime`."""

    device = "cpu"
    batch_subwords = BATCH_SUBWORDS
    batch_cells = BATCH_CELLS
    batch_overhead = BATCH_OVERHEAD
    size_multiple = 1

    def __init__(self, folder: Path, head: HeadSettings, labels: Sequence[str]) -> None:
        self._threads = n_threads()
        self._network = _session(folder / ONNX_GRAPH)
        self._inputs = [needed.name for needed in self._network.get_inputs()]
        self._outputs = [output.name for output in self._network.get_outputs()]
        further = (path for path in sorted(folder.glob(f"*{ONNX}")) if path.name != ONNX_GRAPH)
        self._reader = kind_of(head).reader(
            head,
            labels,
            graphs={path.name.removesuffix(ONNX): partial(_session(path).run, None) for path in further},
            arrays=_arrays(folder / HEAD_ARRAYS),
        )

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`. Each thread has its own batch: sharing one, they would mostly wait for each other."""
        if self._threads == 1:
            return map(self._find, batches)
        return made_ahead(self._find, batches, ahead=self._threads, threads=self._threads)

    def _find(self, batch: WordArrays) -> list[list[Found]]:
        scores = self._network.run(None, self._feed(batch))
        return self._reader.read(dict(zip(self._outputs, scores, strict=True)), batch)

    def _feed(self, batch: WordArrays) -> dict[str, Any]:
        """The network's inputs, without those that the export removed."""
        made = {"lengths": batch.lengths.astype(np.int32), **self._reader.inputs(batch)}
        return {name: made[name] if name in made else getattr(batch, name) for name in self._inputs}


def _arrays(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise DisconerError(
            "A file of this model is damaged",
            where=Where(str(path)),
            got=first_line(error),
            fix="Copy the complete model again.",
        ) from error


def _session(graph: Path) -> Any:
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError as error:
        raise DisconerError(
            "This model was exported for ONNX Runtime, which is not installed",
            where=Where(str(graph)),
            fix="Install it: pip install 'disconer[onnx]'.",
        ) from error
    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_mem_pattern = False  # it would store a memory plan for every batch size
    options.log_severity_level = ONLY_ERRORS
    try:
        return InferenceSession(
            graph,
            options,
            providers=["CPUExecutionProvider"],
            # The fused operator is four times slower than addition and normalisation.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:  # ONNX Runtime has no exception types of its own
        raise DisconerError(
            "A network of this model is missing or damaged",
            where=Where(str(graph)),
            got=first_line(error),
            fix="Copy the complete model again.",
        ) from error


def n_threads() -> int:
    """$OMP_NUM_THREADS, or the number of processors available to this process."""
    return chosen_threads()
