"""Graphs made ready to run by ONNX Runtime, with their own weights or those that a model stores. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from disconer.core.errors import DisconerError, Where, first_line
from disconer.store.graphs import GRAPHS_FOLDER, ONNX, StoredGraphs
from disconer.store.weights import read_weights

ONLY_ERRORS = 3  # of the levels of ONNX Runtime's messages

Outputs = list[NDArray[Any]]


class Session:
    """A graph that is ready to run.

    inputs, outputs: their names, in order.
    """

    def __init__(self, graph: Path | bytes, place: Path, weights: Mapping[str, NDArray[Any]] | None = None) -> None:
        """place: of the graph, for messages. weights: those that are not in it, by name."""
        self._made_of = graph, place, weights or {}
        # ONNX Runtime does not copy weights that it is given: they must stay as long as it does.
        self._weights, self._session = _load(*self._made_of)
        self.inputs = [needed.name for needed in self._session.get_inputs()]
        self.outputs = [output.name for output in self._session.get_outputs()]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, as for the processes of spaCy, it is what it was made of."""
        return type(self), self._made_of

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> Outputs:
        outputs: Outputs = self._session.run(None, inputs)
        return outputs


Sessions = Mapping[str, Session]  # by the names of their graphs


def stored_sessions(folder: Path, description: Mapping[str, Any], stored: StoredGraphs) -> Sessions:
    """The graphs of a model with the weights that it stores."""
    shapes = {name: shape for own in stored.weights.values() for name, shape in own.items()}
    weights = read_weights(folder, description, shapes)
    return {
        name: Session(
            graph,
            folder / GRAPHS_FOLDER / f"{name}{ONNX}",
            {weight: weights[weight] for weight in stored.weights[name]},
        )
        for name, graph in stored.graphs.items()
    }


def exported_sessions(folder: Path) -> Sessions:
    """The graphs of an exported model, which have their weights."""
    return {path.name.removesuffix(ONNX): Session(path, path) for path in sorted(folder.glob(f"*{ONNX}"))}


def _load(graph: Path | bytes, place: Path, weights: Mapping[str, NDArray[Any]]) -> tuple[list[Any], Any]:
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_mem_pattern = False  # it would store a memory plan for every batch size
    options.log_severity_level = ONLY_ERRORS
    values = [OrtValue.ortvalue_from_numpy(weight) for weight in weights.values()]
    try:
        options.add_external_initializers(list(weights), values)
        return values, InferenceSession(
            graph,
            options,
            providers=["CPUExecutionProvider"],
            # The fused operator is four times slower than addition and normalisation.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:  # ONNX Runtime has no exception types of its own
        raise DisconerError(
            "A network of this model is missing or damaged",
            where=Where(str(place)),
            got=first_line(error),
            fix="Copy the complete model again.",
        ) from error
