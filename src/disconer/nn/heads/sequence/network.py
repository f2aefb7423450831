"""The network of the sequence head: an LSTM that writes labels, its attention on one word at a time.

Sizes: d of a word vector, s of the LSTM.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

LstmState = tuple[Tensor, Tensor]


class LabelWriter(nn.Module):
    """Scores of the next label, from the word at hand and the labels so far, of this and earlier words."""

    def __init__(self, *, word_size: int, label_size: int, size: int, n_labels: int, dropout: float) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_labels, label_size)
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(word_size + label_size, size, batch_first=True)
        self.output = nn.Linear(size + word_size, n_labels)

    def forward(self, words: Tensor, before: Tensor, state: LstmState) -> tuple[Tensor, LstmState]:
        """The next label of each path, as plain operations: the same numbers as `whole`, in any runtime.

        Shape: (R, d), (R,), twice (R, s) -> (R, labels), twice (R, s)
        """
        hidden, memory = state
        words = words.to(hidden.dtype)
        of_inputs, of_hidden, bias, hidden_bias = self.lstm.all_weights[0]
        gates = linear(self._inputs(words, before), of_inputs, bias) + linear(hidden, of_hidden, hidden_bias)
        gate, keep, new, out = gates.chunk(4, -1)  # torch's order
        memory = keep.sigmoid() * memory + gate.sigmoid() * new.tanh()
        hidden = out.sigmoid() * memory.tanh()
        return self._scores(hidden, words), (hidden, memory)

    def whole(self, words: Tensor, before: Tensor) -> Tensor:
        """All labels of sentences, where they are known beforehand.

        words: at hand.  Shape: (B, T, d)
        before: the labels before; before the first, END.  Shape: (B, T)

        Shape: (B, T, labels)
        """
        if torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):  # not every CPU has an LSTM in bf16
                return self.whole(words, before)
        words = words.to(self.lstm.all_weights[0][0].dtype)  # LSTMs stay in float32 even in a bf16 network
        states, _ = self.lstm(self.dropout(self._inputs(words, before)))
        return self._scores(states, words)

    def start(self, n_paths: int) -> LstmState:
        """Shape: twice (R, s)"""
        nothing = self.lstm.all_weights[0][0].new_zeros(n_paths, self.lstm.hidden_size)
        return nothing, nothing

    def _inputs(self, words: Tensor, before: Tensor) -> Tensor:
        return torch.cat([words, self.vectors(before).to(words.dtype)], -1)

    def _scores(self, states: Tensor, words: Tensor) -> Tensor:
        seen = self.dropout(torch.cat([states, words], -1))
        scores: Tensor = self.output(seen.to(self.output.weight.dtype)).float()
        return scores
