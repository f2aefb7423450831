"""From a model in torch to one for ONNX Runtime."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from disconer.core.errors import DisconerError
from disconer.core.files import replace_file
from disconer.export.graphs import (
    OPSET,
    PAIR_INPUTS,
    PAIR_OUTPUTS,
    SPAN_INPUTS,
    SPAN_OUTPUTS,
    Axes,
    PairGraph,
    SpanGraph,
    example_pairs,
    example_spans,
)
from disconer.export.quantize import quantize, shrink
from disconer.nn.encoders.encoder import WordEncoder
from disconer.nn.encoders.encoding import KINDS
from disconer.nn.encoders.hub import first_line
from disconer.nn.heads.span.head import SpanHead
from disconer.store.checkpoint import Model, describe
from disconer.store.description import write_description
from disconer.store.exported import PAIRS, RUNTIME, SPANS, RuntimeDescription


def exportable_encoders() -> list[str]:
    """Kinds of encoders whose models can be exported."""
    return [name for name in KINDS.names() if KINDS.get(name).load_exported_reader]


def export_model(model: Model, folder: Path, *, int8: bool = False) -> None:
    """Write a folder that `Recognizer.from_pretrained` reads, and that runs without torch.

    int8: weights of 8 bits: smaller, faster, slightly less exact.
    """
    network, head = model.network.eval(), model.network.head
    if not isinstance(head, SpanHead) or not KINDS.get(model.config.encoder.kind).load_exported_reader:
        raise DisconerError(
            "A model of this kind cannot be exported",
            got=f"an encoder of kind {model.config.encoder.kind}, a head of kind {model.config.head.kind}",
            expected=f"an encoder of kind {' or '.join(exportable_encoders())}, and a head of kind span",
        )
    folder.mkdir(parents=True, exist_ok=True)
    model.reader.save(folder)
    _write_description(model, folder, int8=int8)
    with _plain_attention(network.words.encoder):
        spans = _trace(SpanGraph(network, head), example_spans(_piece_shape(model)), SPAN_INPUTS, SPAN_OUTPUTS)
    if head.relations is not None:
        word_size = head.fragments.parts[0]
        pairs = _trace(PairGraph(head), example_pairs(word_size), PAIR_INPUTS, PAIR_OUTPUTS)
        if int8:
            shrink(pairs)
        replace_file(folder / PAIRS, _tidied(pairs).SerializeToString())
    if int8:
        spans = quantize(spans)
    replace_file(folder / SPANS, _tidied(spans).SerializeToString())  # last: with it, the folder is a model


def _write_description(model: Model, folder: Path, *, int8: bool) -> None:
    runtime = RuntimeDescription(int8=int8, max_pieces=model.max_pieces, padding=model.reader.padding)
    write_description(folder, describe(model) | {RUNTIME: asdict(runtime)})


def _piece_shape(model: Model) -> tuple[int, ...]:
    """Of one piece: () for a number, (C,) for a row of them."""
    return model.reader.prefix.shape[1:]


@contextmanager
def _plain_attention(encoder: WordEncoder) -> Iterator[None]:
    """Have a transformer compute attention step by step: ONNX Runtime makes one step of it again, in its own way."""
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


def _trace(module: nn.Module, example: tuple[Tensor, ...], inputs: Mapping[str, Axes], outputs: Sequence[str]) -> Any:
    """The graph of a module as an ONNX model."""
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                module.eval(),
                example,
                dynamo=True,
                dynamic_shapes=dict(inputs),
                input_names=list(inputs),
                output_names=list(outputs),
                opset_version=OPSET,
                verbose=False,
            )
    except ImportError as error:
        raise DisconerError(
            "Exporting needs packages that are not installed",
            got=first_line(error),
            fix="Install them: pip install 'disconer[export]'.",
        ) from error
    except Exception as error:  # each encoder may fail in its own way
        raise DisconerError(
            "This network cannot be exported",
            got=first_line(error),
            fix="Choose another encoder: those of BERT's family can be exported.",
        ) from error
    assert program is not None
    return program.model_proto


def _tidied(graph: Any) -> Any:
    """The graph without inputs that nothing reads, and without where in whose code each operator comes from: that is
    as much as a small network, and tells of folders on this machine.
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
    """Without the exporter's remarks about itself."""
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
