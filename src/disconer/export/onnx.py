"""Exporting a torch model for ONNX Runtime."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save

from disconer.core.errors import DisconerError, first_line
from disconer.core.files import ONNX_GRAPH, replace_file
from disconer.export.graphs import OPSET, NetworkGraph, network_graph
from disconer.export.quantize import quantize, shrink
from disconer.nn.encoders import KINDS
from disconer.nn.heads.kind import Graph, kind_of
from disconer.nn.parts import WordEncoder
from disconer.store.checkpoint import Model, describe
from disconer.store.description import write_description
from disconer.store.exported import HEAD_ARRAYS, ONNX, RUNTIME, RuntimeDescription


def exportable_encoders() -> list[str]:
    """Kinds of encoders whose models can be exported."""
    return [name for name in KINDS.names() if KINDS.get(name).load_exported_reader]


def export_model(model: Model, folder: Path, *, int8: bool = False) -> None:
    """Write a model folder that runs without torch.

    int8: quantise weights to 8 bits: smaller, faster, slightly less accurate.
    """
    network, kind = model.network.eval(), kind_of(model.config.head)
    if not KINDS.get(model.config.encoder.kind).load_exported_reader:
        raise DisconerError(
            "A model with this encoder cannot be exported to ONNX",
            got=f"an encoder of kind {model.config.encoder.kind}",
            expected=f"an encoder of kind {' or '.join(exportable_encoders())}",
        )
    graphs = kind.graphs(network.head)
    folder.mkdir(parents=True, exist_ok=True)
    model.reader.save(folder)
    _write_description(model, folder, int8=int8)
    if graphs.arrays:
        replace_file(folder / HEAD_ARRAYS, save({name: np.ascontiguousarray(a) for name, a in graphs.arrays.items()}))
    for name, graph in graphs.further.items():
        traced = _trace(graph)
        if int8:
            shrink(traced)
        replace_file(folder / f"{name}{ONNX}", _tidied(traced).SerializeToString())
    with _plain_attention(network.words.encoder):
        traced = _trace(network_graph(network.words, graphs.scores, _piece_shape(model)))
    if int8:
        traced = quantize(traced)
    replace_file(folder / ONNX_GRAPH, _tidied(traced).SerializeToString())  # last: it makes the folder a model


def _write_description(model: Model, folder: Path, *, int8: bool) -> None:
    runtime = RuntimeDescription(int8=int8, max_subwords=model.max_subwords, padding=model.reader.padding)
    write_description(folder, describe(model) | {RUNTIME: asdict(runtime)})


def _piece_shape(model: Model) -> tuple[int, ...]:
    """Of one subword: () for a number, (C,) for a row of numbers."""
    return model.reader.prefix.shape[1:]


@contextmanager
def _plain_attention(encoder: WordEncoder) -> Iterator[None]:
    """Use eager attention, which ONNX Runtime fuses itself."""
    transformer = getattr(encoder, "transformer", None)
    if transformer is None:
        yield
        return
    chosen = transformer.config._attn_implementation
    transformer.set_attn_implementation("eager")
    try:
        yield
    finally:
        transformer.set_attn_implementation(chosen)


def _trace(graph: Graph) -> Any:
    """A graph as an ONNX model."""
    axes = tuple(graph.inputs.values())
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                graph.module.eval(),
                graph.example,
                dynamo=True,
                dynamic_shapes=(axes,) if isinstance(graph.module, NetworkGraph) else axes,  # as it takes *inputs
                input_names=list(graph.inputs),
                output_names=list(graph.outputs),
                opset_version=OPSET,
                verbose=False,
            )
    except ImportError as error:
        raise DisconerError(
            "Exporting needs packages that are not installed",
            got=first_line(error),
            fix="Install them: pip install 'disconer[export]'.",
        ) from error
    except Exception as error:  # encoders may raise anything
        raise DisconerError(
            "This network cannot be exported",
            got=first_line(error),
            fix="Choose another encoder: the BERT family can be exported.",
        ) from error
    assert program is not None
    return program.model_proto


def _tidied(graph: Any) -> Any:
    """The graph without unused inputs and without source locations of operators, which take as much space as a
    small network and reveal local paths.
    """
    read = {name for node in graph.graph.node for name in node.input}
    kept = [item for item in graph.graph.input if item.name in read]
    del graph.graph.input[:]
    graph.graph.input.extend(kept)
    del graph.metadata_props[:]
    del graph.graph.metadata_props[:]
    parts = graph.graph.node, graph.graph.initializer, graph.graph.input, graph.graph.output, graph.graph.value_info
    for item in chain(*parts):
        del item.metadata_props[:]
        item.ClearField("doc_string")
    return graph


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the exporter's messages."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
