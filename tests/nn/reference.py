"""The paper's equations, literally and slowly, in float64: loops over i and j as it writes them."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer
from disconer.nn.layers.gcn import Aggcn, AttentionAdjacency, DenseStack


def adjacency(heads: list[int]) -> Tensor:
    """A_ij = 1 for an arc either way and for i = j, each row divided by the degree + 1."""
    n_words = len(heads)
    graph = torch.zeros(n_words, n_words, dtype=torch.float64)
    for i in range(n_words):
        for j in range(n_words):
            if heads[i] == j or heads[j] == i:
                graph[i, j] = 1
    for i in range(n_words):
        degree = graph[i].sum().item()
        graph[i, i] = 1
        graph[i] /= degree + 1
    return graph


def convolve(layer: nn.Linear, words: list[Tensor], graph: Tensor) -> list[Tensor]:
    """h_i = relu(sum_j A_ij W h_j + b)"""
    result = []
    for i in range(len(words)):
        total = layer.bias.clone()
        for j in range(len(words)):
            total = total + graph[i, j] * (layer.weight @ words[j])
        result.append(total.clamp(min=0))
    return result


def dense_stack(stack: DenseStack, words: list[Tensor], graph: Tensor) -> list[Tensor]:
    seen, outputs = words, []
    for layer in stack.convolutions:
        output = convolve(layer, seen, graph)  # type: ignore[arg-type]
        outputs.append(output)
        seen = [torch.cat([before, new]) for before, new in zip(seen, output, strict=True)]
    return [
        stack.output.weight @ (torch.cat([output[i] for output in outputs]) + words[i]) + stack.output.bias
        for i in range(len(words))
    ]


def attention(module: AttentionAdjacency, words: list[Tensor], head: int) -> Tensor:
    """softmax(Q K^T / sqrt(d_head)), row by row"""
    size = len(words[0]) // module.heads
    rows = slice(head * size, (head + 1) * size)
    query = [module.query.weight[rows] @ word + module.query.bias[rows] for word in words]
    key = [module.key.weight[rows] @ word + module.key.bias[rows] for word in words]
    graph = torch.zeros(len(words), len(words), dtype=torch.float64)
    for i in range(len(words)):
        scores = [math.exp((query[i] @ key[j]).item() / math.sqrt(size)) for j in range(len(words))]
        for j in range(len(words)):
            graph[i, j] = scores[j] / sum(scores)
    return graph


def aggcn(module: Aggcn, words: list[Tensor], heads: list[int]) -> list[Tensor]:
    hidden = dense_stack(module.first, words, adjacency(heads))
    for block in module.further:
        per_head = [
            dense_stack(stack, hidden, attention(block.adjacency, hidden, number))  # type: ignore[arg-type]
            for number, stack in enumerate(block.stacks)  # type: ignore[arg-type]
        ]
        hidden = [
            block.merge.weight @ torch.cat([output[i] for output in per_head]) + block.merge.bias  # type: ignore
            for i in range(len(words))
        ]
    return [module.reduce.weight @ word + module.reduce.bias for word in hidden]


def span_vector(words: Tensor, widths: nn.Embedding, i: int, j: int) -> Tensor:
    """s_ij = [h_i, h_j, w]"""
    return torch.cat([words[i], words[j], widths.weight[min(j - i, widths.num_embeddings - 1)]])


def _mlp(scorer: FragmentScorer | RelationScorer, vector: Tensor) -> Tensor:
    hidden = scorer.first.weight @ vector + scorer.first.bias
    for layer in scorer.rest:
        if isinstance(layer, nn.Linear):
            hidden = layer.weight @ hidden.clamp(min=0) + layer.bias
    return hidden


def fragment_scores(scorer: FragmentScorer, span: Tensor) -> Tensor:
    return _mlp(scorer, span)


def relation_scores(scorer: RelationScorer, first: Tensor, second: Tensor) -> Tensor:
    return _mlp(scorer, torch.cat([first, first * second, second]))


def negative_log_likelihood(scores: Tensor, gold: int) -> Tensor:
    return -(scores[gold] - scores.exp().sum().log())
