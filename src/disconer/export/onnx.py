"""Exporting a torch model as ONNX graphs with their weights, for other programs, and for quantised weights."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from disconer.core.files import replace_file
from disconer.export.quantize import quantize, shrink
from disconer.export.tracing import graphs_of, tidied, trace
from disconer.store.checkpoint import Model, describe
from disconer.store.description import RUNTIME, RuntimeDescription, write_description
from disconer.store.graphs import NETWORK, ONNX


def export_model(model: Model, folder: Path, *, int8: bool = False) -> None:
    """Write a model folder whose graphs have their weights in them.

    int8: quantise weights to 8 bits: smaller, faster, slightly less accurate.
    """
    encoder = model.network.eval().words.encoder
    graphs = graphs_of(model)
    folder.mkdir(parents=True, exist_ok=True)
    model.reader.save(folder)
    runtime = RuntimeDescription(int8=int8, max_subwords=model.max_subwords, padding=model.reader.padding)
    write_description(folder, describe(model) | {RUNTIME: asdict(runtime)})
    for name, graph in graphs.items():  # the network last: it makes the folder a model
        traced = trace(graph, encoder)
        if int8 and name == NETWORK:
            quantize(traced)
        elif int8:
            shrink(traced)
        replace_file(folder / f"{name}{ONNX}", tidied(traced).SerializeToString())
