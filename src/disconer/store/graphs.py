"""The ONNX graphs beside a model's weights, in its folder `onnx`. No torch here.

They contain no weights: these are stored once, as usual, and passed to ONNX Runtime by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import replace_file

ONNX = ".onnx"  # the names of all graphs
NETWORK = "network"  # the main one, up to the scores of the head; the head may have further ones
INT8_NETWORK = "network.int8"  # the same, with products computed with 8 bits
GRAPHS_FOLDER = "onnx"  # of a model folder
INDEX = "graphs.json"  # in it; written last
MOST_WEIGHTS = 2**31  # in one array: more mean a damaged file, or one made to exhaust the memory

Shapes = Mapping[str, tuple[int, ...]]  # of weights, as the network stores them, by its names for them


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A graph, and the weights that it takes.

    onnx: the graph itself. constants: those that it takes as they are; transposed: matrices that it takes transposed;
    tables: those that are inputs of it, as only some of their rows are read; quantized: matrices that it takes as
    whole numbers of 8 bits.
    """

    onnx: bytes
    constants: Shapes
    transposed: Shapes
    tables: Shapes
    quantized: Shapes


@dataclass(frozen=True, slots=True)
class StoredGraphs:
    """The graphs of a model, by name.

    max_subwords: of a window, those around it included; None for no limit.
    padding: the id of padding.
    """

    graphs: Mapping[str, StoredGraph]
    max_subwords: int | None
    padding: int


@dataclass(frozen=True, slots=True)
class NoGraphs:
    """A model that runs only in torch, and why."""

    reason: str


UNKNOWN = NoGraphs("it was saved without graphs")


GROUPS = ("constants", "transposed", "tables", "quantized")


def write_graphs(folder: Path, stored: StoredGraphs | NoGraphs) -> None:
    """Write the graphs of the model in a folder, or why it has none."""
    place = folder / GRAPHS_FOLDER
    place.mkdir(parents=True, exist_ok=True)
    if isinstance(stored, NoGraphs):
        index: dict[str, object] = {"none": stored.reason}
    else:
        for name, graph in stored.graphs.items():
            replace_file(place / f"{name}{ONNX}", graph.onnx)
        weights = {name: {group: getattr(graph, group) for group in GROUPS} for name, graph in stored.graphs.items()}
        index = {"max_subwords": stored.max_subwords, "padding": stored.padding, "graphs": weights}
    replace_file(place / INDEX, json.dumps(index, ensure_ascii=False).encode())


def remove_graphs(folder: Path) -> None:
    """Remove the graphs from a folder; without their index, nothing reads them."""
    place = folder / GRAPHS_FOLDER
    for path in (place / INDEX, *place.glob(f"*{ONNX}")):
        path.unlink(missing_ok=True)


def read_graphs(folder: Path) -> StoredGraphs | NoGraphs:
    """The graphs of the model in a folder, or why it has none."""
    place = folder / GRAPHS_FOLDER
    try:
        index = json.loads((place / INDEX).read_bytes())
        if "none" in index:
            return NoGraphs(str(index["none"]))
        graphs = {
            name: StoredGraph(_file(place, name).read_bytes(), *(_shapes(weights[group]) for group in GROUPS))
            for name, weights in index["graphs"].items()
        }
        return StoredGraphs(graphs, index["max_subwords"], int(index["padding"]))
    except FileNotFoundError as error:
        if Path(error.filename).name == INDEX:
            return UNKNOWN
        raise _damaged(Path(error.filename), error) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(place / INDEX, error) from error


def _file(place: Path, name: str) -> Path:
    """The file of a graph. A name from a model's files must not lead out of its folder."""
    path = place / f"{name}{ONNX}"
    if path.name != f"{name}{ONNX}":
        raise ValueError(f"{name!r} is not the name of a graph")
    return path


def _shapes(written: Mapping[str, list[int]]) -> Shapes:
    shapes = {name: tuple(map(int, shape)) for name, shape in written.items()}
    if any(prod(shape) > MOST_WEIGHTS or min(shape, default=1) < 1 for shape in shapes.values()):
        raise ValueError(f"a weight has no size from 1 to {MOST_WEIGHTS:,}")
    return shapes


def _damaged(path: Path, error: Exception) -> DisconerError:
    return DisconerError(
        "A graph of this model is missing or damaged",
        where=Where(str(path)),
        got=first_line(error),
        fix="Copy the complete model again.",
    )
