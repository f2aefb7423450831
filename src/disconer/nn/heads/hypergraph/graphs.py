"""The hypergraph head as an ONNX graph: the scores of edges. For export only."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from disconer.nn.heads.hypergraph.head import HypergraphHead
from disconer.nn.heads.hypergraph.reading import CELL, FIRST, GAP, SCORES, SECOND
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.layers.pair_graph import PairGraph
from disconer.nn.pairs import NEIGHBOURS


class HypergraphGraph(nn.Module):
    """The scores of edges. See `reading.TreeReader` for the inputs; those after `second` are for convolutions."""

    def __init__(self, head: HypergraphHead) -> None:
        super().__init__()
        self.scorer = head.scorer
        self.pairs = PairGraph(head.grid) if head.grid is not None else None

    def forward(self, words: Tensor, lengths: Tensor, first: Tensor, second: Tensor, *more: Tensor) -> tuple[Tensor]:
        """Shape: (B, N, d), (B,), (M,), (M,), those of `PairGraph` -> (M, edges * labels)"""
        around = self.pairs(words, first, second, *more) if self.pairs is not None else None
        return (self.scorer(words.flatten(0, 1), first, second, around),)


def hypergraph_graphs(head: HypergraphHead) -> HeadGraphs:
    n_pairs = 11
    inputs = {name: {0: "pairs"} for name in (FIRST, SECOND)}
    example = [torch.arange(n_pairs), torch.arange(n_pairs) + 1]
    if head.grid is not None:
        inputs |= {CELL: {0: "pairs"}, GAP: {0: "pairs"}, NEIGHBOURS: {1: "pairs"}}
        zeros = torch.zeros(len(head.grid.convolutions), n_pairs, 9, dtype=torch.int64)
        example += [torch.arange(n_pairs), torch.arange(n_pairs), zeros]
    return HeadGraphs(Graph(HypergraphGraph(head), inputs, (SCORES,), example=tuple(example)))
