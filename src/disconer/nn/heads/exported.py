"""Heads outside torch: the graphs of a head, and what reads entities off their scores.

No torch here: only those who make graphs need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from disconer.nn.arrays import WordArrays
from disconer.nn.windows import Found

if TYPE_CHECKING:
    from torch import Tensor, nn

Axes = dict[int, str]  # of an input, the names of the axes that may have any size
Arrays = Mapping[str, NDArray[Any]]
RunGraph = Callable[[Arrays], list[NDArray[Any]]]  # from a graph's inputs to its outputs, in their order


@dataclass(frozen=True)
class Graph:
    """A module as a graph of its own.

    inputs: of the module, in order. example: values for them, for tracing, every axis of a size of its own.
    """

    module: nn.Module
    inputs: Mapping[str, Axes]
    outputs: Sequence[str]
    example: tuple[Tensor, ...]


@dataclass(frozen=True)
class HeadGraphs:
    """A trained head as graphs.

    scores: the end of the graph of the whole network. Its module takes the words, (windows, words, d), the lengths,
        (windows,), and then the inputs named here, which the `ScoreReader` makes.
    further: graphs that the reader runs by itself, by name.
    """

    scores: Graph
    further: Mapping[str, Graph] = field(default_factory=dict)


class ScoreReader(Protocol):
    """Makes entities of what the graph of a network gave for a batch."""

    def inputs(self, batch: WordArrays) -> Arrays:
        """What the graph takes beside the batch itself."""
        ...

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """The entities of each window. scores: the outputs of the graph, by name."""
        ...
