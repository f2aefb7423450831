"""Weights that are kept with 8 bits and used with 32: tables that are looked up, and matrices of little work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.nn.heads.span.decisions import Floats

SMALL = 2**12  # numbers; fewer are not worth it
LARGEST = 127  # of 8 bits with a sign


def shrink(graph: Any) -> None:
    """Keep the large weights of a graph as they were, but for rounding, in a quarter of their size.

    The rows of a table are scaled each by itself after it was looked up. The columns of a matrix are scaled when the
    graph is loaded: ONNX Runtime computes once what does not depend on the input.
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
    """Whole numbers, and by what to multiply them."""
    scale = np.abs(values).max(axis, keepdims=True) / LARGEST
    scale[scale == 0] = 1
    return np.rint(values / scale).astype(np.int8), scale


def _look_up(node: Any, name: str) -> list[Any]:
    """In place of looking `name` up: look up its numbers and their scales, and multiply them."""
    from onnx import TensorProto, helper

    indices, output = node.input[1], node.output[0]
    return [
        helper.make_node("Gather", [f"{name}.int8", indices], [f"{output}.int8"], axis=0),
        helper.make_node("Gather", [f"{name}.scale", indices], [f"{output}.scale"], axis=0),
        helper.make_node("Cast", [f"{output}.int8"], [f"{output}.float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{output}.float", f"{output}.scale"], [output]),
    ]


def _restore(name: str) -> list[Any]:
    """What makes `name` of its numbers and scales again."""
    from onnx import TensorProto, helper

    return [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.float", f"{name}.scale"], [name]),
    ]
