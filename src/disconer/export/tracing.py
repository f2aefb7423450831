"""From a model in torch to its graphs as ONNX: the network up to its head's scores, and the head's further graphs."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch

from disconer.core.errors import DisconerError, first_line
from disconer.export.network_graph import OPSET, NetworkGraph, network_graph
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.heads.kind import Graph, kind_of
from disconer.nn.interfaces import WordEncoder
from disconer.store.checkpoint import Model
from disconer.store.graphs import NETWORK


def exportable_encoders() -> list[str]:
    """Kinds of encoders whose models have graphs."""
    return [name for name, kind in ENCODER_KINDS.loadable() if kind.load_exported_reader]


def graphs_of(model: Model) -> dict[str, Graph]:
    """The graphs of a model, by name, still to be traced: the network, and those that its head runs by itself."""
    if not ENCODER_KINDS.get(model.config.encoder.kind).load_exported_reader:
        raise DisconerError(
            "A model with this encoder has no ONNX graph",
            got=f"an encoder of kind {model.config.encoder.kind}",
            expected=f"an encoder of kind {' or '.join(exportable_encoders())}",
        )
    head = kind_of(model.config.head).graphs(model.network.head)
    network = network_graph(model.network.words, head.scores, model.reader.prefix.shape[1:])
    return {**head.further, NETWORK: network}


def trace(graph: Graph, encoder: WordEncoder, *, unfolded: Collection[str] = ()) -> Any:
    """A graph as an ONNX model.

    encoder: of the network, which may have to compute in another way while it is traced.
    unfolded: parameters that must stay as they are; operations on other parameters alone may be folded into constants.
    """
    axes = tuple(graph.inputs.values())
    try:
        with _quiet(), _plain_attention(encoder), torch.no_grad():
            program = torch.onnx.export(
                graph.module.eval(),
                graph.example,
                dynamo=True,
                dynamic_shapes=(axes,) if isinstance(graph.module, NetworkGraph) else axes,  # as it takes *inputs
                input_names=list(graph.inputs),
                output_names=list(graph.outputs),
                opset_version=OPSET,
                optimize=False,
                verbose=False,
            )
            assert program is not None
            _simplify(program.model, frozenset(unfolded))
    except ImportError as error:
        raise DisconerError(
            "Making ONNX graphs needs packages that are not installed",
            got=first_line(error),
            fix="Install them: pip install 'disconer[train]'.",
        ) from error
    except Exception as error:  # encoders may raise anything
        raise DisconerError(
            "This network cannot be exported",
            got=first_line(error),
            fix="Choose another encoder: the BERT family can be exported.",
        ) from error
    return program.model_proto


def _simplify(model: Any, unfolded: frozenset[str]) -> None:
    """Leave out what is not needed. Parameters in `unfolded` are inputs meanwhile: their values must not matter."""
    from onnxscript.optimizer import optimize_ir

    values = {}
    for name in [name for name in model.graph.initializers if name in unfolded]:
        parameter = model.graph.initializers.pop(name)
        values[parameter], parameter.const_value = parameter.const_value, None
        model.graph.inputs.append(parameter)
    optimize_ir(model)
    for parameter, value in values.items():
        model.graph.inputs.remove(parameter)
        parameter.const_value = value
        if parameter.uses():
            model.graph.register_initializer(parameter)


def tidied(graph: Any) -> Any:
    """The graph without unused inputs and without source locations of operators, which take as much space as a
    small network and reveal local paths.
    """
    read = {name for node in graph.graph.node for name in node.input}
    kept = [item for item in graph.graph.input if item.name in read]
    del graph.graph.input[:]
    graph.graph.input.extend(kept)
    del graph.metadata_props[:]
    del graph.graph.metadata_props[:]
    del graph.graph.value_info[:]  # ONNX Runtime infers them itself
    parts = graph.graph.node, graph.graph.initializer, graph.graph.input, graph.graph.output
    for item in chain(*parts):
        del item.metadata_props[:]
        item.ClearField("doc_string")
    return graph


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
