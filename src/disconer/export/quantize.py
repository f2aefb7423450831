"""Graphs quantised to 8 bits: smaller, and faster on processors with VNNI."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.nn.weights import INT8_SCALES, INT8_VALUES, LARGEST_STEP, quantized, rounded_to_8_bits

SMALL = 2**12  # elements; smaller tensors are not worth it


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
        small, scale = rounded_to_8_bits(values, axis=0 if table is None else 1)
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
ROUNDED, SCALE = ":rounded", ":scale"  # suffixes for the two parts of a product's inputs
# Constants of the graph. Inputs are rounded to unsigned integers, of which MIDDLE or NONE stands for 0.
MIDDLE, NONE, STEPS, ALL_STEPS, ONE = "int8.middle", "int8.none", "int8.steps", "int8.all_steps", "int8.one"
LEAST, LAST_AXIS, FIRST_AXIS = "int8.least", "int8.last_axis", "int8.first_axis"
DIP = "int8.dip"
CONSTANTS: dict[str, NDArray[Any]] = {
    MIDDLE: np.array(128, np.uint8),
    NONE: np.array(0, np.uint8),
    STEPS: np.array(LARGEST_STEP, np.float32),
    ALL_STEPS: np.array(255, np.float32),
    ONE: np.array(1, np.float32),
    LEAST: np.array(1e-9, np.float32),  # a row of padding may be all 0
    LAST_AXIS: np.array([-1], np.int64),
    FIRST_AXIS: np.array([0], np.int64),
    DIP: np.array(0.17, np.float32),  # how far below 0 a GELU goes
}


def quantize(graph: Any) -> None:
    """Let a graph compute its products with 8 bits, and store its other large weights rounded, too."""
    from onnx import numpy_helper

    weights = {weight.name: weight for weight in graph.graph.initializer}
    for name in compute_with_8_bits(graph, {name: tuple(weight.dims) for name, weight in weights.items()}):
        values, scales = quantized(numpy_helper.to_array(weights[name]).T)
        graph.graph.initializer.append(numpy_helper.from_array(values, name + INT8_VALUES))
        graph.graph.initializer.append(numpy_helper.from_array(scales, name + INT8_SCALES))
    drop_unused(graph)
    shrink(graph)


def compute_with_8_bits(graph: Any, matrices: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Let products with some matrices take these as whole numbers and scales, where it is worth it; returns which.

    The inputs of a product are rounded at run time, each row by its own largest value, so that the precision does not
    depend on the other sentences of a batch.

    matrices: the sizes of weights.
    """
    from onnx import helper, numpy_helper

    makers = {output: node.op_type for node in graph.graph.node for output in node.output}
    nodes: list[Any] = []
    rounded: set[str] = set()  # several products may have the same inputs
    taken: dict[str, None] = {}
    for node in graph.graph.node:
        if not _is_worth_it(node, matrices):
            nodes.append(node)
            continue
        inputs, matrix = node.input
        is_gelu = makers.get(inputs) == "Gelu"
        if inputs not in rounded:
            nodes += _rounding_of_gelu(inputs) if is_gelu else _rounding(inputs)
            rounded.add(inputs)
        nodes += _product(inputs, matrix, node.output[0], is_gelu=is_gelu)
        taken[matrix] = None
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    if taken:
        graph.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in CONSTANTS.items())
        if all(known.domain != DOMAIN for known in graph.opset_import):
            graph.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return list(taken)


def _is_worth_it(node: Any, matrices: Mapping[str, tuple[int, ...]]) -> bool:
    shape = matrices.get(node.input[1], ()) if node.op_type == "MatMul" else ()
    return len(shape) == 2 and prod(shape) >= SMALL and KEPT_EXACT not in _scopes(node)


def _rounding(inputs: str) -> list[Any]:
    """Nodes that compute of inputs their whole numbers and the scale of each row."""
    from onnx import helper

    size, largest = f"{inputs}:size", f"{inputs}:largest"
    return [
        helper.make_node("Abs", [inputs], [size]),
        helper.make_node("ReduceMax", [size, LAST_AXIS], [largest], keepdims=1),
        *_divided(inputs, inputs, largest, STEPS, MIDDLE),
    ]


def _rounding_of_gelu(inputs: str) -> list[Any]:
    """The same for the output of a GELU: hardly anything is below 0, so the whole range is used for what is above."""
    from onnx import helper

    highest, range_, raised = f"{inputs}:highest", f"{inputs}:range", f"{inputs}:raised"
    return [
        helper.make_node("ReduceMax", [inputs, LAST_AXIS], [highest], keepdims=1),
        helper.make_node("Add", [highest, DIP], [range_]),
        helper.make_node("Add", [inputs, DIP], [raised]),
        *_divided(inputs, raised, range_, ALL_STEPS, NONE),
    ]


def _divided(inputs: str, values: str, largest: str, steps: str, zero: str) -> list[Any]:
    """Nodes that divide the values of each row into steps up to its largest one, and round them."""
    from onnx import helper

    bounded, factor, scaled = f"{inputs}:bounded", f"{inputs}:factor", f"{inputs}:scaled"
    return [
        helper.make_node("Max", [largest, LEAST], [bounded]),
        helper.make_node("Div", [bounded, steps], [inputs + SCALE]),
        helper.make_node("Div", [steps, bounded], [factor]),
        helper.make_node("Mul", [values, factor], [scaled]),
        helper.make_node("QuantizeLinear", [scaled, ONE, zero], [inputs + ROUNDED]),
    ]


def _product(inputs: str, matrix: str, output: str, *, is_gelu: bool) -> list[Any]:
    """Nodes that multiply whole numbers, and scale the result by column and by row."""
    from onnx import helper

    columns, raised = f"{output}:columns", f"{output}:raised"
    taken = [inputs + ROUNDED, matrix + INT8_VALUES, ONE, matrix + INT8_SCALES, NONE if is_gelu else MIDDLE]
    nodes = [
        helper.make_node("MatMulIntegerToFloat", taken, [columns], domain=DOMAIN),
        helper.make_node("Mul", [columns, inputs + SCALE], [raised if is_gelu else output]),
    ]
    if is_gelu:
        nodes += [*_dip(matrix), helper.make_node("Sub", [raised, f"{matrix}:dip"], [output])]
    return nodes


def _dip(matrix: str) -> list[Any]:
    """Nodes that compute, when the graph is loaded, by how much raised inputs raise the product with a matrix."""
    from onnx import TensorProto, helper

    whole, summed, scaled = (f"{matrix}:{part}" for part in ("whole", "summed", "scaled"))
    return [
        helper.make_node("Cast", [matrix + INT8_VALUES], [whole], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", [whole, FIRST_AXIS], [summed], keepdims=0),
        helper.make_node("Mul", [summed, matrix + INT8_SCALES], [scaled]),
        helper.make_node("Mul", [scaled, DIP], [f"{matrix}:dip"]),
    ]


def drop_unused(graph: Any) -> None:
    """Leave out weights that nothing reads any more."""
    read = {name for node in graph.graph.node for name in node.input}
    kept = [weight for weight in graph.graph.initializer if weight.name in read]
    del graph.graph.initializer[:]
    graph.graph.initializer.extend(kept)


def _scopes(node: Any) -> list[str]:
    noted = {item.key: item.value for item in node.metadata_props}
    return [str(scope) for scope in ast.literal_eval(noted.get(SCOPES, "[]"))]
