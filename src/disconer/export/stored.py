"""The graphs that are stored beside a model's weights: with them, it runs in ONNX Runtime as it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

from torch import nn

from disconer.core.errors import DisconerError
from disconer.core.files import WEIGHTS
from disconer.export.tracing import graphs_of, tidied, trace
from disconer.nn.heads.exported import Graph
from disconer.nn.network import AnyNetwork
from disconer.store.checkpoint import Model
from disconer.store.graphs import UNKNOWN, NoGraphs, Shapes, StoredGraphs


def with_graphs(model: Model) -> Model:
    """A model that knows its graphs, made now if they were not before."""
    return replace(model, graphs=make_graphs(model)) if model.graphs is UNKNOWN else model


def make_graphs(model: Model) -> StoredGraphs | NoGraphs:
    """The graphs of a model without its weights, or why it has none."""
    network = model.network.eval()
    graphs: dict[str, bytes] = {}
    weights: dict[str, Shapes] = {}
    try:
        for name, graph in graphs_of(model).items():
            graphs[name], weights[name] = _without_weights(graph, network)
    except DisconerError as error:
        return NoGraphs(f"{error.what}: {error.got}" if error.got else error.what)
    return StoredGraphs(graphs, weights, max_subwords=model.max_subwords, padding=model.reader.padding)


def _without_weights(graph: Graph, network: AnyNetwork) -> tuple[bytes, Shapes]:
    """A graph, and the shapes of the weights that it takes, by the network's names for them."""
    names = _network_names(graph.module, network)
    traced = tidied(trace(graph, network.words.encoder, unfolded=names))
    shapes = {}
    for weight in traced.graph.initializer:
        if weight.name in names:
            weight.name = names[weight.name]
            shapes[weight.name] = tuple(weight.dims)
            _empty(weight)
    for node in traced.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    return traced.SerializeToString(), shapes


def _network_names(module: nn.Module, network: AnyNetwork) -> dict[str, str]:
    """What the network calls the weights of a module of its graphs. Those that it does not store stay in the graph."""
    known = {id(weight): name for name, weight in network.state_dict(keep_vars=True).items()}
    own = chain(module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return {name: known[id(weight)] for name, weight in own if id(weight) in known}


def _empty(weight: Any) -> None:
    """Leave of a weight its name, type and shape; its values are given when the graph is loaded."""
    from onnx import TensorProto

    for field in ("raw_data", "float_data", "int32_data", "int64_data"):
        weight.ClearField(field)
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=WEIGHTS)
