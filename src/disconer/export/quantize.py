"""Graphs with weights of 8 bits: a quarter of the size, and more than twice as fast where processors have VNNI."""

from __future__ import annotations

import ast
import logging
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disconer.export.shrink import shrink

KEPT_EXACT = "head"  # the part of the graph that computes with 32 bits: it is small, and the last to decide
QUANTIZED = ["MatMul", "LSTM"]
EXACT_SHARE = 2 / 3  # of the products that suffer most from 8 bits, first layers first: errors there grow on the way
SCOPES = "pkg.torch.onnx.name_scopes"  # where torch notes which module an operator comes from


def quantize(graph: Any) -> Any:
    """The graph with weights of 8 bits, one scale a column. Most products are computed with 8 bits, too: what enters
    them is scaled as it comes.
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
    """Whether a product has fewer numbers than what enters it. In transformers that is what has passed an activation:
    a few large numbers among many small ones, of which a scale of 8 bits leaves nothing.
    """
    shape = sizes.get(node.input[1], ()) if node.op_type == "MatMul" else ()
    return len(shape) == 2 and shape[0] > shape[1]


def _scopes(node: Any) -> list[str]:
    noted = {item.key: item.value for item in node.metadata_props}
    return [str(scope) for scope in ast.literal_eval(noted.get(SCOPES, "[]"))]


def _advice(record: logging.LogRecord) -> bool:
    """Not what ONNX Runtime advises every time: torch's exporter has done it already."""
    return "pre-processing before quantization" not in record.getMessage()
