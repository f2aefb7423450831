"""Graphs quantised to 8 bits: smaller, and faster on processors with VNNI."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.nn.reader import Floats
from disconer.nn.weights import BITS, INT8_SCALES, INT8_VALUES, block_size, quantized

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
SCOPES = "pkg.torch.onnx.name_scopes"  # where torch notes which module an operator comes from
DOMAIN = "com.microsoft"  # of ONNX Runtime's own operators
ACCURACY = 4  # ONNX Runtime's name for inputs of 8 bits


def quantize(graph: Any) -> None:
    """Let a graph compute its products with 8 bits, and store its other large weights rounded, too."""
    from onnx import numpy_helper

    weights = {weight.name: weight for weight in graph.graph.initializer}
    products = products_of_8_bits(graph, {name: tuple(weight.dims)[::-1] for name, weight in weights.items()})
    for product in products:
        name = product.input[1]
        matrix = np.ascontiguousarray(numpy_helper.to_array(weights[name]).T)
        parts = compute_with_8_bits(graph, product, matrix.shape)
        values, scales = quantized(matrix, block_size(matrix.shape[1]) or 1)
        graph.graph.initializer.append(numpy_helper.from_array(values, parts[0]))
        graph.graph.initializer.append(numpy_helper.from_array(scales, parts[1]))
    drop_unused(graph)
    shrink(graph)


def products_of_8_bits(graph: Any, matrices: Mapping[str, tuple[int, ...]]) -> list[Any]:
    """The products with these matrices that can be computed with 8 bits, outside of the head.

    matrices: their shapes, (outputs, inputs).
    """
    found = []
    for node in graph.graph.node:
        shape = matrices.get(node.input[1], ()) if node.op_type == "MatMul" else ()
        is_worth_it = len(shape) == 2 and shape[0] * shape[1] >= SMALL and block_size(shape[1])
        if is_worth_it and KEPT_EXACT not in _scopes(node):
            found.append(node)
    return found


def compute_with_8_bits(graph: Any, product: Any, shape: tuple[int, ...]) -> tuple[str, str]:
    """Let a product take its matrix, of shape (outputs, inputs), as whole numbers and scales; returns their names."""
    from onnx import helper

    name, (n_outputs, n_inputs) = product.input[1], shape
    parts = name + INT8_VALUES, name + INT8_SCALES
    settings = {"N": n_outputs, "K": n_inputs, "bits": BITS, "block_size": block_size(n_inputs)}
    product.op_type, product.domain = "MatMulNBits", DOMAIN
    product.input[:] = [product.input[0], *parts]
    product.attribute.extend(
        helper.make_attribute(key, value) for key, value in (*settings.items(), ("accuracy_level", ACCURACY))
    )
    if all(known.domain != DOMAIN for known in graph.opset_import):
        graph.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return parts


def drop_unused(graph: Any) -> None:
    """Leave out weights that nothing reads any more."""
    read = {name for node in graph.graph.node for name in node.input}
    kept = [weight for weight in graph.graph.initializer if weight.name in read]
    del graph.graph.initializer[:]
    graph.graph.initializer.extend(kept)


def _scopes(node: Any) -> list[str]:
    noted = {item.key: item.value for item in node.metadata_props}
    return [str(scope) for scope in ast.literal_eval(noted.get(SCOPES, "[]"))]
