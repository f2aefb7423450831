"""Layers that any network may use. They take plain numbers, and import nothing of disconer.

Here those that many networks have: a bidirectional LSTM, and a multilayer perceptron.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


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
            packed = pack_padded_sequence(exact, lengths, batch_first=True, enforce_sorted=False)
            output, _ = self.lstm(packed)
            states = pad_packed_sequence(output, batch_first=True, total_length=words.shape[1])[0]
        return states.to(words.dtype)


def mlp(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Activation and dropout of the layer before, then linear layers in between: sizes[0] -> … -> sizes[-1]."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.ReLU(), nn.Dropout(dropout), nn.Linear(inputs, outputs)]
    return nn.Sequential(*layers)
