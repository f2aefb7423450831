"""Layers that any network may use. They take plain numbers, and import nothing of disconer.

Here those that many networks have: a bidirectional LSTM, a mix of layers, a multilayer perceptron, words as they are,
classes of gaps between words, and the bias of a rare class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

# Gaps below the first have a vector each; wider ones share, by powers of the root of 2.
EXACT_GAPS, GAP_CLASSES = 10, 20


class BiLstm(nn.Module):
    """Reads the words of each sentence in both directions; padding is never read.

    size: hidden units per direction; word vectors then have twice that size.
    """

    def __init__(self, *, input_size: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, size, num_layers=layers, dropout=dropout, bidirectional=True, batch_first=True)
        self.size = 2 * size

    def forward(self, words: Tensor, lengths: list[int]) -> Tensor:
        """Shape: (B, N, d) -> (B, N, 2 * size)"""
        if torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):  # not every CPU has an LSTM in bf16
                return self.forward(words, lengths)
        exact = words.to(next(self.lstm.parameters()).dtype)  # LSTMs stay in float32 even in a bf16 network
        if min(lengths) == words.shape[1]:  # no padding, as for a single sentence
            states: Tensor = self.lstm(exact)[0]
        else:
            states = self._packed(exact, lengths)
        return states.to(words.dtype)

    def _packed(self, words: Tensor, lengths: list[int]) -> Tensor:
        """In the order that torch packs sentences in, but with two kernels and without waiting for a GPU."""
        n_rows, n_words = words.shape[:2]
        place, n_read = packing(lengths, n_words)
        place = (place.pin_memory() if words.is_cuda else place).to(words.device, non_blocking=True)
        packed = PackedSequence(words.flatten(0, 1).index_select(0, place), n_read)
        states: Tensor = self.lstm(packed)[0].data  # (all words, 2 * size)
        padded = states.new_zeros(n_rows * n_words, states.shape[-1]).index_copy(0, place, states)
        return padded.view(n_rows, n_words, -1)


def packing(lengths: list[int], n_words: int) -> tuple[Tensor, Tensor]:
    """The words of sentences as they are read: the first of all, the second of all, and so on, longest sentence first.

    >>> [part.tolist() for part in packing([1, 3], 4)]
    [[4, 0, 5, 6], [2, 1, 1]]

    Returns: their places in the flattened (B, N), and how many are read at a time.  Shape: (words,), (longest,)
    """
    ordered, row = torch.sort(torch.tensor(lengths), descending=True)
    is_there = torch.arange(int(ordered[0]))[:, None] < ordered  # (longest, B)
    word, rank = is_there.nonzero().unbind(-1)
    return row[rank] * n_words + word, is_there.sum(1)


class LayerMix(nn.Module):
    """A learned weighted mean of all layers: a softmax over one scalar per layer, times a common factor."""

    def __init__(self, *, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Shape: (…, d) each -> (…, d)"""
        weights = self.weights.softmax(0)  # (layers,)
        mixed = torch.zeros_like(layers[0])
        for weight, layer in zip(weights, layers, strict=True):
            mixed = mixed + weight * layer
        return self.scale * mixed


class UnchangedWords(nn.Module):
    """The end of a network's graph whose head scores words in further graphs. For export only."""

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor]:
        return (words + 0,)  # an output must differ from the graph's inputs


def mlp(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Activation and dropout of the layer before, then linear layers in between: sizes[0] -> … -> sizes[-1]."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.ReLU(), nn.Dropout(dropout), nn.Linear(inputs, outputs)]
    return nn.Sequential(*layers)


def gap_class(gaps: Tensor) -> Tensor:
    """Which vector a gap has.

    >>> gap_class(torch.tensor([0, 9, 10, 13, 15, 500])).tolist()
    [0, 9, 10, 10, 11, 19]
    """
    powers = (torch.log2(gaps.clamp(min=EXACT_GAPS).float() / EXACT_GAPS) * 2).long()
    wide = EXACT_GAPS + powers.clamp(max=GAP_CLASSES - EXACT_GAPS - 1)
    return torch.where(gaps < EXACT_GAPS, gaps, wide)


def prior_bias(probability: float) -> float:
    """The bias at which a score starts out as this probability."""
    return math.log(probability / (1 - probability))
