"""The attention-guided graph convolution of the paper's section 3.2: syntax for every word."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


def dependency_adjacency(heads: Tensor, word_mask: Tensor) -> Tensor:
    """The dependency graph with edges both ways, self-loops added, each row divided by its degree + 1.

    heads: -1 for a root.  Shape: (B, N) -> (B, N, N)
    """
    n_words = heads.shape[1]
    has_head = (heads >= 0) & word_mask
    arcs = torch.zeros(*heads.shape, n_words, device=heads.device)
    arcs.scatter_(2, heads.clamp(min=0).unsqueeze(-1), has_head.unsqueeze(-1).float())
    graph = ((arcs + arcs.transpose(1, 2)) > 0).float()
    degree = graph.sum(-1, keepdim=True)
    return (graph + torch.eye(n_words, device=heads.device)) / (degree + 1)


class GraphConvolution(nn.Linear):
    """The paper's equation 1: h_i = relu(sum_j A_ij W h_j + b).  Shape: (B, N, d), (B, N, N) -> (B, N, d')"""

    def forward(self, words: Tensor, adjacency: Tensor) -> Tensor:  # type: ignore[override]
        return torch.relu(adjacency @ linear(words, self.weight) + self.bias)


class DenseStack(nn.Module):
    """Densely connected graph convolutions: each layer reads the input and all layers before it.

    The layers' outputs together are as wide as the input, to which they are added.
    """

    def __init__(self, *, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        if size % layers:
            raise ValueError(f"{layers} densely connected layers do not divide a vector of {size}")
        width = size // layers
        self.convolutions = nn.ModuleList(GraphConvolution(size + width * layer, width) for layer in range(layers))
        self.output = nn.Linear(size, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, adjacency: Tensor) -> Tensor:
        """Shape: (B, N, d), (B, N, N) -> (B, N, d)"""
        seen = words
        outputs = []
        for convolution in self.convolutions:
            output = convolution(seen, adjacency)
            outputs.append(self.dropout(output))
            seen = torch.cat([seen, output], dim=-1)
        merged: Tensor = self.output(torch.cat(outputs, dim=-1) + words)
        return merged


class AttentionAdjacency(nn.Module):
    """A learned adjacency matrix per head: softmax(Q K^T / sqrt(d_head)).  Shape: (B, N, d) -> (B, heads, N, N)"""

    def __init__(self, *, size: int, heads: int) -> None:
        super().__init__()
        if size % heads:
            raise ValueError(f"{heads} heads do not divide a vector of {size}")
        self.heads = heads
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)

    def forward(self, words: Tensor, word_mask: Tensor) -> Tensor:
        query, key = self._split(self.query(words)), self._split(self.key(words))  # (B, heads, N, d_head)
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        graphs: Tensor = scores.masked_fill(~word_mask[:, None, None, :], float("-inf")).softmax(-1)
        return graphs

    def _split(self, vectors: Tensor) -> Tensor:
        n_rows, n_words, size = vectors.shape
        return vectors.view(n_rows, n_words, self.heads, size // self.heads).transpose(1, 2)


class AttentionBlock(nn.Module):
    """A densely connected stack for each head's learned graph, merged linearly (W1)."""

    def __init__(self, *, size: int, heads: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.adjacency = AttentionAdjacency(size=size, heads=heads)
        self.stacks = nn.ModuleList(DenseStack(size=size, layers=layers, dropout=dropout) for _ in range(heads))
        self.merge = nn.Linear(heads * size, size)

    def forward(self, words: Tensor, word_mask: Tensor) -> Tensor:
        graphs = self.adjacency(words, word_mask)
        heads = [stack(words, graphs[:, head]) for head, stack in enumerate(self.stacks)]
        merged: Tensor = self.merge(torch.cat(heads, dim=-1))
        return merged


class Aggcn(nn.Module):
    """Block 1 over the dependency graph, further blocks over learned graphs, reduced to `output_size` (W2)."""

    def __init__(
        self,
        *,
        size: int,
        output_size: int,
        blocks: int,
        heads: int,
        first_layers: int,
        further_layers: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.size = output_size
        self.first = DenseStack(size=size, layers=first_layers, dropout=dropout)
        self.further = nn.ModuleList(
            AttentionBlock(size=size, heads=heads, layers=further_layers, dropout=dropout) for _ in range(blocks - 1)
        )
        self.reduce = nn.Linear(size, output_size)

    def forward(self, words: Tensor, heads: Tensor, parsed: Tensor, word_mask: Tensor) -> Tensor:
        """What syntax adds to each word; zero for sentences without a parse.  Shape: (B, N, size)"""
        hidden = self.first(words, dependency_adjacency(heads, word_mask).to(words.dtype))
        for block in self.further:
            hidden = block(hidden, word_mask)
        reduced: Tensor = self.reduce(hidden)
        return reduced * parsed[:, None, None]
