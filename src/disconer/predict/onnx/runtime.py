"""Networks run by ONNX Runtime: graphs with their own weights, or with those that a model stores. No torch here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from copy import copy
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.config import HeadSettings
from disconer.core.background import made_ahead
from disconer.core.cores import chosen_threads, has_vnni
from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.places import is_bundled
from disconer.nn.arrays import LANE_PLACES, LANE_WORDS, WordArrays, lanes_of
from disconer.nn.heads.kind import kind_of
from disconer.nn.runtime import RuntimeName
from disconer.nn.weights import INT8_SCALES, INT8_VALUES, quantized
from disconer.nn.windows import Found
from disconer.predict.onnx.outside import tensors_outside
from disconer.store.graphs import GRAPHS_FOLDER, INT8_NETWORK, NETWORK, ONNX, StoredGraph, StoredGraphs
from disconer.store.weights import ModelWeights

NO_MESSAGES = 4  # of the levels of ONNX Runtime's log: of its errors, we make messages of our own
BATCH_SUBWORDS = 2**8  # larger batches do not fit into a core's cache and are slower
BATCH_CELLS = 2**18
BATCH_OVERHEAD = 24  # in subwords: the fixed cost of running the graph

Array = NDArray[Any]


class Session:
    """A graph that is ready to run.

    inputs, outputs: their names, in order. tables: inputs that are the same in every run.
    """

    def __init__(self, session: Any, tables: Mapping[str, Array] | None = None) -> None:
        self._session, self._tables = session, tables or {}
        self.inputs = [needed.name for needed in session.get_inputs() if needed.name not in self._tables]
        self.outputs = [output.name for output in session.get_outputs()]

    def __call__(self, inputs: Mapping[str, Array]) -> list[Array]:
        try:
            outputs: list[Array] = self._session.run(None, {**inputs, **self._tables})
        except Exception as error:  # ONNX Runtime's exceptions have no base of their own
            if type(error).__name__ != "InvalidArgument":
                raise
            raise DisconerError(
                "The configuration of this model does not fit its network",
                got=first_line(error),
                fix="Copy the complete model again.",
            ) from error
        return outputs


Sessions = Mapping[str, Session]  # by the names of their graphs


class OnnxRuntime:
    """Runs the graphs of a network. See `Runtime`."""

    name: RuntimeName = "onnx"
    device = "cpu"
    batch_subwords = BATCH_SUBWORDS
    batch_cells = BATCH_CELLS
    batch_overhead = BATCH_OVERHEAD
    size_multiple = 1

    def __init__(self, sessions: Sessions, head: HeadSettings, labels: Sequence[str]) -> None:
        self._threads = chosen_threads()
        self._network = sessions[NETWORK]
        further = {name: session for name, session in sessions.items() if name != NETWORK}
        self._reader = kind_of(head).reader(head, labels, graphs=further)
        self._near_reader = partial(kind_of(head).near_reader, head, labels, graphs=further)

    def near(self) -> OnnxRuntime:
        """See `Runtime`."""
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
        if LANE_WORDS in self._network.inputs:
            lanes = lanes_of(batch.lengths)
            made |= {LANE_WORDS: lanes.words, LANE_PLACES: lanes.places}
        return {name: made[name] if name in made else getattr(batch, name) for name in self._network.inputs}


def stored_sessions(
    folder: Path, description: Mapping[str, Any], stored: StoredGraphs, *, int8: bool = False
) -> Sessions:
    """The graphs of a model with its stored weights. int8: computed in 8 bits where that is faster."""
    weights = ModelWeights(folder, description)
    other = NETWORK if int8 else INT8_NETWORK
    return {
        NETWORK if name == INT8_NETWORK else name: _with_weights(
            graph, weights, folder / GRAPHS_FOLDER / f"{name}{ONNX}"
        )
        for name, graph in stored.graphs.items()
        if name != other
    }


def _with_weights(graph: StoredGraph, weights: ModelWeights, place: Path) -> Session:
    """ONNX Runtime copies constants; tables are read after ours are freed, to take less memory."""
    try:
        session = _load(graph.onnx, place, _constants(graph, weights))  # no name may hold the constants any longer
        return Session(session, {name: weights.read(name, shape) for name, shape in graph.tables.items()})
    except MemoryError as error:
        raise DisconerError(
            "There is not enough memory for the weights of this model",
            where=Where(str(place)),
            fix="If it should be a small model, copy it again: its files are damaged.",
        ) from error


def _constants(graph: StoredGraph, weights: ModelWeights) -> dict[str, Array]:
    """The constants of a graph, all in one block of memory, which is returned to the system as a whole."""
    shapes = {**graph.constants, **graph.transposed}
    whole = np.empty(sum(map(prod, shapes.values())), np.float32)
    constants: dict[str, Array] = {}
    first = 0
    for name, shape in shapes.items():
        room = whole[first : first + prod(shape)]
        first += room.size
        if name in graph.transposed:
            constants[name] = weights.read(name, shape, room.reshape(shape[::-1]).T).T
        else:
            constants[name] = weights.read(name, shape, room.reshape(shape))
    for name, shape in graph.quantized.items():
        values, scales = quantized(weights.read(name, shape))
        constants |= {name + INT8_VALUES: values, name + INT8_SCALES: scales}
    return constants


def exported_sessions(folder: Path) -> Sessions:
    """The graphs of an exported model, which have their weights."""
    return {path.name.removesuffix(ONNX): session_of(path, path) for path in sorted(folder.glob(f"*{ONNX}"))}


def session_of(graph: Path | bytes, place: Path) -> Session:
    """A graph that has its weights. place: of it, for messages."""
    return Session(_load(graph, place))


def _load(graph: Path | bytes, place: Path, weights: Mapping[str, Array] | None = None) -> Any:
    """place: of the graph, for messages. weights: those that are not in it, by name."""
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    if not is_bundled(place):
        _refuse_other_files(graph, place, weights or {})
    options = SessionOptions()
    options.add_session_config_entry("session.load_model_format", "ONNX")  # what was checked is what is loaded
    if not has_vnni():  # sums of products of 8 bits would overflow in 16: they are computed more slowly, and exactly
        options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.enable_mem_pattern = False  # it would store a memory plan for every batch size
    options.log_severity_level = NO_MESSAGES
    try:
        if weights:
            values = [OrtValue.ortvalue_from_numpy(weight) for weight in weights.values()]
            options.add_external_initializers(list(weights), values)
        return InferenceSession(
            graph,
            options,
            providers=["CPUExecutionProvider"],
            # The fused operator is four times slower than addition and normalisation.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:  # ONNX Runtime has no exception types of its own
        raise _damaged(place, error) from error


def _refuse_other_files(graph: Path | bytes, place: Path, weights: Collection[str]) -> None:
    """Stop if ONNX Runtime would read values from other files: whoever made a model must not decide which."""
    try:
        outside = tensors_outside(graph, weights)
    except (OSError, ValueError) as error:
        raise _damaged(place, error) from error
    if outside:
        raise DisconerError(
            "This model's graph loads weights from external files, which is not allowed",
            where=Where(str(place)),
            got=f"the values of {outside[0]!r} in another file",
            expected="a graph that contains all its values, as `disconer export` writes it",
            fix="Export the model again with `disconer export`. Do not use one that you cannot trust.",
        )


def _damaged(place: Path, error: Exception) -> DisconerError:
    return DisconerError(
        "A network of this model is missing or damaged",
        where=Where(str(place)),
        got=first_line(error),
        fix="Copy the complete model again.",
    )
