"""The graphs that are stored beside a model's weights: with them, it runs in ONNX Runtime as it is.

They are made here, or by another process while a model is trained.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

from torch import nn

from disconer.core.errors import DisconerError
from disconer.core.places import WEIGHTS
from disconer.export.quantize import compute_with_8_bits, drop_unused
from disconer.export.tracing import graphs_of, tidied, trace
from disconer.nn.heads.kind import Graph
from disconer.nn.network import AnyNetwork
from disconer.nn.weights import INT8_SCALES, INT8_VALUES
from disconer.store.checkpoint import Model, load_model
from disconer.store.graphs import (
    INT8_NETWORK,
    NETWORK,
    UNKNOWN,
    NoGraphs,
    Shapes,
    StoredGraph,
    StoredGraphs,
    read_graphs,
    write_graphs,
)

LARGE = 2**20  # numbers: ONNX Runtime copies constants; a table as large as this is worth handing over with each batch
WITHOUT_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def with_graphs(model: Model) -> Model:
    """A model with new graphs: existing ones may be of an earlier version of disconer."""
    return replace(model, graphs=make_graphs(model))


def make_graphs(model: Model) -> StoredGraphs | NoGraphs:
    """The graphs of a model without its weights, or why it has none."""
    network = model.network.eval()
    try:
        graphs = {
            stored_name: stored
            for name, graph in graphs_of(model).items()
            for stored_name, stored in _without_weights(name, graph, network)
        }
    except DisconerError as error:
        return NoGraphs(f"{error.what}: {error.got}" if error.got else error.what)
    return StoredGraphs(graphs, max_subwords=model.max_subwords, padding=model.reader.padding)


def _without_weights(name: str, graph: Graph, network: AnyNetwork) -> Iterator[tuple[str, StoredGraph]]:
    """A graph that takes weights by the network's names for them; that of the network, with 8 bits, too."""
    names = _network_names(graph.module, network)
    traced = trace(graph, network.words.encoder, unfolded=names)
    for node in traced.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    for weight in traced.graph.initializer:
        weight.name = names.get(weight.name, weight.name)
    weights = frozenset(names.values())
    transposed = _take_transposed(traced, weights)
    tables = _take_tables(traced, weights)
    own = [weight for weight in traced.graph.initializer if weight.name in weights]
    for weight in own:
        _empty(weight)
    constants = {weight.name: tuple(weight.dims) for weight in own if weight.name not in transposed}
    in_8_bits = deepcopy(traced)
    yield name, StoredGraph(tidied(traced).SerializeToString(), constants, transposed, tables, quantized={})
    if name == NETWORK:
        quantized = _take_quantized(in_8_bits, transposed)
        rest = {name: shape for name, shape in transposed.items() if name not in quantized}
        yield INT8_NETWORK, StoredGraph(tidied(in_8_bits).SerializeToString(), constants, rest, tables, quantized)


def _network_names(module: nn.Module, network: AnyNetwork) -> dict[str, str]:
    """The network's names for the weights of a module of its graphs. Those that it does not store stay in the graph."""
    known = {id(weight): name for name, weight in network.state_dict(keep_vars=True).items()}
    own = chain(module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return {name: known[id(weight)] for name, weight in own if id(weight) in known}


def _take_transposed(traced: Any, weights: Collection[str]) -> Shapes:
    """Let a graph take matrices that it would only transpose as it needs them, so that loading keeps no second copy.

    Returns them with the shapes that the network stores them in.
    """
    uses = Counter(name for node in traced.graph.node for name in node.input)
    given = {
        node.output[0]: node.input[0]
        for node in traced.graph.node
        if node.op_type == "Transpose"
        and node.input[0] in weights
        and uses[node.input[0]] == 1
        and list(node.attribute[0].ints) == [1, 0]
    }
    kept = [node for node in traced.graph.node if node.output[0] not in given]
    del traced.graph.node[:]
    traced.graph.node.extend(kept)
    for node in traced.graph.node:
        node.input[:] = [given.get(name, name) for name in node.input]
    shapes = {}
    for weight in traced.graph.initializer:
        if weight.name in given.values():
            shapes[weight.name] = tuple(weight.dims)
            weight.dims[:] = weight.dims[::-1]
    return shapes


def _take_tables(traced: Any, weights: Collection[str]) -> Shapes:
    """Let a graph take large tables that it only looks up rows of as inputs; returns their shapes."""
    from onnx import helper

    computed_with = {
        name
        for node in traced.graph.node
        for place, name in enumerate(node.input)
        if node.op_type != "Gather" or place > 0
    }
    tables = {
        weight.name: weight
        for weight in traced.graph.initializer
        if weight.name in weights and weight.name not in computed_with and prod(weight.dims) >= LARGE
    }
    for name, weight in tables.items():
        traced.graph.input.append(helper.make_tensor_value_info(name, weight.data_type, list(weight.dims)))
    shapes = {name: tuple(weight.dims) for name, weight in tables.items()}
    kept = [weight for weight in traced.graph.initializer if weight.name not in tables]
    del traced.graph.initializer[:]
    traced.graph.initializer.extend(kept)
    return shapes


def _take_quantized(traced: Any, matrices: Shapes) -> Shapes:
    """Let a graph take matrices with 8 bits, where it can; returns them with the shapes that the network stores."""
    from onnx import TensorProto

    shapes = {}
    for name in compute_with_8_bits(traced, matrices):
        n_outputs, n_inputs = shapes[name] = matrices[name]
        parts = {
            name + INT8_VALUES: (TensorProto.INT8, [n_inputs, n_outputs]),
            name + INT8_SCALES: (TensorProto.FLOAT, [n_outputs]),
        }
        for part, (kind, dims) in parts.items():
            _empty(traced.graph.initializer.add(name=part, data_type=kind, dims=dims))
    drop_unused(traced)
    return shapes


def _empty(weight: Any) -> None:
    """Keep only a weight's name, type and shape; its values are passed when the graph is loaded."""
    from onnx import TensorProto

    for field in ("raw_data", "float_data", "int32_data", "int64_data"):
        weight.ClearField(field)
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=WEIGHTS)


class GraphsAhead:
    """The graphs of a run's models, made by another process while a GPU trains: tracing takes several epochs' time.

    Graphs have no weights, so those of the untrained network are the same. The process is
    `python -m disconer.export.stored MODEL OUT`. It writes to a folder that no other run has: if a run is killed, its
    process goes on for a while.

    process: None if they are made when they are requested.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None = None, out: Path = Path()) -> None:
        self._process, self._out = process, out

    def of(self, model: Model) -> StoredGraphs | NoGraphs:
        """The graphs of a model that differs from that of the process in weights alone."""
        if self._process is not None and self._process.wait() == 0:
            made = read_graphs(self._out)
            if made is not UNKNOWN:
                return made
        return make_graphs(model)


@contextmanager
def graphs_ahead(folder: Path, *, now: bool) -> Iterator[GraphsAhead]:
    """The graphs of the model in a folder. now: start another process for them; else they are made when requested."""
    if not now:
        yield GraphsAhead()
        return
    nowhere = subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="disconer-") as out:
        command = [sys.executable, "-m", "disconer.export.stored", str(folder), out]
        process = subprocess.Popen(command, env=os.environ | WITHOUT_GPU, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        try:
            yield GraphsAhead(process, Path(out))
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()


if __name__ == "__main__":
    write_graphs(Path(sys.argv[2]), make_graphs(load_model(Path(sys.argv[1]))))
