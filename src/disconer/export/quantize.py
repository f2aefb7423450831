"""Graphs quantised to 8 bits: smaller, and faster on processors with VNNI."""

from __future__ import annotations

import ast
import logging
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.nn.reader import Floats

SMALL = 2**12  # elements; smaller tensors are not worth it
LARGEST = 127  # of signed 8-bit integers


def shrink(graph: Any) -> None:
    """Store the large weights of a graph, rounded, in a quarter of their size.

    The rows of an embedding table are scaled after lookup. The columns of a matrix are scaled when the graph is
    loaded: ONNX Runtime folds constants.
    """
    from onnx import numpy_helper

    looked_up = {node.input[0]: node for node in graph.graph.node if node.op_type == "Gather"}
    kept, nodes = [], list(graph.graph.node)
    for weight in graph.graph.initializer:
        values = numpy_helper.to_array(weight)
        if not _is_large(values):
            kept.append(weight)
            continue
        table = looked_up.get(weight.name)
        small, scale = _rounded(values, axis=0 if table is None else 1)
        kept.append(numpy_helper.from_array(small, f"{weight.name}.int8"))
        kept.append(numpy_helper.from_array(scale, f"{weight.name}.scale"))
        if table is None:
            nodes[:0] = _restore(weight.name)
        else:
            place = nodes.index(table)
            nodes[place : place + 1] = _look_up(table, weight.name)
    del graph.graph.initializer[:], graph.graph.node[:]
    graph.graph.initializer.extend(kept)
    graph.graph.node.extend(nodes)


def _is_large(values: NDArray[Any]) -> bool:
    return values.dtype == np.float32 and values.ndim == 2 and values.size >= SMALL


def _rounded(values: Floats, *, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Integers and their scales."""
    scale = np.abs(values).max(axis, keepdims=True) / LARGEST
    scale[scale == 0] = 1
    return np.rint(values / scale).astype(np.int8), scale


def _look_up(node: Any, name: str) -> list[Any]:
    """Replaces a lookup in `name` by lookups of its integers and scales, multiplied."""
    from onnx import TensorProto, helper

    indices, output = node.input[1], node.output[0]
    return [
        helper.make_node("Gather", [f"{name}.int8", indices], [f"{output}.int8"], axis=0),
        helper.make_node("Gather", [f"{name}.scale", indices], [f"{output}.scale"], axis=0),
        helper.make_node("Cast", [f"{output}.int8"], [f"{output}.float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{output}.float", f"{output}.scale"], [output]),
    ]


def _restore(name: str) -> list[Any]:
    """The node that computes `name` from its integers and scales."""
    from onnx import TensorProto, helper

    return [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.float", f"{name}.scale"], [name]),
    ]


KEPT_EXACT = "head"  # the part of the graph that stays in 32 bits: it is small, and makes the final decisions
QUANTIZED = ["MatMul", "LSTM"]
EXACT_SHARE = 2 / 3  # of the products that suffer most from 8 bits, first layers first: their errors propagate
SCOPES = "pkg.torch.onnx.name_scopes"  # where torch notes which module an operator comes from


def quantize(graph: Any) -> Any:
    """The graph with 8-bit weights, one scale per column. Most products are computed in 8 bits, too, with dynamically
    scaled inputs.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    sizes = {weight.name: tuple(weight.dims) for weight in graph.graph.initializer}
    narrowing = [node.name for node in graph.graph.node if _narrows(node, sizes) and KEPT_EXACT not in _scopes(node)]
    exact = [node.name for node in graph.graph.node if KEPT_EXACT in _scopes(node)]
    exact += narrowing[: math.ceil(EXACT_SHARE * len(narrowing))]
    logging.getLogger().addFilter(_advice)
    try:
        with tempfile.TemporaryDirectory() as staging:
            path = Path(staging) / "quantized.onnx"
            quantize_dynamic(
                graph,
                path,
                op_types_to_quantize=QUANTIZED,
                per_channel=True,
                weight_type=QuantType.QInt8,
                nodes_to_exclude=exact,
                extra_options={"MatMulConstBOnly": True},
            )
            quantized = onnx.load(path)
    finally:
        logging.getLogger().removeFilter(_advice)
    shrink(quantized)
    return quantized


def _narrows(node: Any, sizes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a product's output is smaller than its input. In transformers the input has then passed an activation:
    a few large numbers among many small ones, which 8 bits would round to zero.
    """
    shape = sizes.get(node.input[1], ()) if node.op_type == "MatMul" else ()
    return len(shape) == 2 and shape[0] > shape[1]


def _scopes(node: Any) -> list[str]:
    noted = {item.key: item.value for item in node.metadata_props}
    return [str(scope) for scope in ast.literal_eval(noted.get(SCOPES, "[]"))]


def _advice(record: logging.LogRecord) -> bool:
    """Silences ONNX Runtime's advice to pre-process, which torch's exporter has already done."""
    return "pre-processing before quantization" not in record.getMessage()
