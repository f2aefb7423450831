"""The grid head as ONNX graphs. For export only."""

from __future__ import annotations

import torch

from disconer.nn.heads.grid.graph_reader import PAIR_GRAPH, WORDS
from disconer.nn.heads.grid.head import GridHead
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.heads.words_graph import words_graph
from disconer.nn.layers.pair_graph import PairGraph
from disconer.nn.pairs import NEIGHBOURS


def grid_graphs(head: GridHead) -> HeadGraphs:
    n_windows, n_words, n_pairs, word_size = 3, 7, 23, head.grid.added.in_features
    n_convolutions = len(head.grid.convolutions)
    pairs = Graph(
        PairGraph(head.grid),
        {
            WORDS: {0: "windows", 1: "words"},
            **{name: {0: "pairs"} for name in ("first", "second", "cell", "gap")},
            NEIGHBOURS: {1: "pairs"},
        },
        ("scores",),
        example=(
            torch.zeros(n_windows, n_words, word_size),
            *(torch.zeros(n_pairs, dtype=torch.int64) for _ in range(4)),
            torch.zeros(n_convolutions, n_pairs, 9, dtype=torch.int64),
        ),
    )
    return HeadGraphs(words_graph(WORDS), {PAIR_GRAPH: pairs})  # the reader sorts them into grids
