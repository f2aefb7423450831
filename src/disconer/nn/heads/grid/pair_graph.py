"""The grid head as ONNX graphs. For export only.

A sentence is half a grid at most: the pairs past its end do not exist. So the graph has a row for each pair that does,
and a convolution is a product with the rows of a pair's neighbours, which are looked for outside the graph. It computes
what `PairGrid` does, with its parameters.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear, pad

from disconer.nn.heads.grid.graph_reader import NEIGHBOURS, PAIR_GRAPH, WIDEST_GAP, WORDS
from disconer.nn.heads.grid.head import GridHead
from disconer.nn.heads.grid.pair_grid import PairGrid
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.layers import UnchangedWords, gap_class


class PairGraph(nn.Module):
    """Scores of pairs of words. Its inputs: words, pairs of them, and which pairs are around each (`neighbours`)."""

    def __init__(self, grid: PairGrid) -> None:
        super().__init__()
        self.grid = grid

    def forward(
        self, words: Tensor, first: Tensor, second: Tensor, cell: Tensor, gap: Tensor, neighbours: Tensor
    ) -> Tensor:
        """Shape: (b, n, d), (pairs,) four times, (convolutions, pairs, 9) -> (pairs, scores)"""
        of_first, of_second, vectors = self._projected(words)
        of_pair = self._pairs(of_first.index_select(0, first), of_second.index_select(0, second), gap)
        features = self._convolved(of_pair, neighbours)  # (pairs, all channels)
        scores = self.grid.output(gelu(self.grid.hidden(features)))
        both: Tensor = scores + self._biaffine(vectors).index_select(0, cell)
        return both

    def _projected(self, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All that is computed of single words, in one product.

        Shape: (b, n, d) -> (b * n, 2 * c) as first word and as second, (b, n, 2 * size) for the biaffine
        """
        layers = self.grid.added, self.grid.multiplied
        (added, added_2), (multiplied, multiplied_2) = (layer.weight.chunk(2) for layer in layers)
        (bias, bias_2), (other_bias, other_bias_2) = (layer.bias.chunk(2) for layer in layers)
        ends = self.grid.biaffine.first, self.grid.biaffine.second
        weight = torch.cat([added, multiplied, added_2, multiplied_2, *(end.weight for end in ends)])
        biases = torch.cat([bias, other_bias, bias_2, other_bias_2, *(end.bias for end in ends)])
        size = 2 * len(bias)
        parts = [size, size, len(biases) - 2 * size]
        of_first, of_second, vectors = torch.split(linear(words, weight, biases), parts, dim=-1)
        return of_first.flatten(0, 1), of_second.flatten(0, 1), vectors

    def _pairs(self, of_first: Tensor, of_second: Tensor, gap: Tensor) -> Tensor:
        """What a pair is before it sees others.  Shape: (pairs, 2 * c) twice, (pairs,) -> (pairs, c)"""
        (first, left), (second, right) = of_first.chunk(2, dim=-1), of_second.chunk(2, dim=-1)
        distance = self.grid.distance(gap_class(torch.arange(WIDEST_GAP + 1)))  # a constant
        return gelu(first + second + left * right + distance.index_select(0, gap))

    def _convolved(self, of_pair: Tensor, neighbours: Tensor) -> Tensor:
        """Shape: (pairs, c), (convolutions, pairs, 9) -> (pairs, all channels)"""
        layers = [of_pair]
        none = torch.zeros(1, of_pair.shape[1])  # the neighbour that does not exist
        for number, convolution in enumerate(self.grid.convolutions):
            around = torch.cat([none, layers[-1]]).index_select(0, neighbours[number].flatten())  # (pairs * 9, c)
            weight, bias = convolution.get_parameter("weight"), convolution.get_parameter("bias")
            taps = weight.permute(2, 3, 1, 0).flatten(0, 2)  # (9 * c, c)
            layers.append(gelu(around.view(-1, len(taps)) @ taps + bias))
        return torch.cat(layers, dim=-1)

    def _biaffine(self, vectors: Tensor) -> Tensor:
        """Shape: (b, n, 2 * size) -> (b * n * n, scores)"""
        first, second = (pad(half, (0, 1), value=1.0) for half in gelu(vectors).chunk(2, dim=-1))
        return self.grid.biaffine.scores(first, second).flatten(0, 2)


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
    words = Graph(UnchangedWords(), {}, (WORDS,), example=())
    return HeadGraphs(words, {PAIR_GRAPH: pairs})  # the reader sorts them into grids
