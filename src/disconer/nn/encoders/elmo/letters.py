"""The lowest layer of ELMo: word vectors from letters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from disconer.nn.encoders.elmo.options import ElmoOptions

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class Highway(nn.Module):
    """Passes its input on, or something made of it: a gate decides number by number."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.gate = nn.Linear(size, size)

    def forward(self, words: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(words))
        return gate * torch.relu(self.transform(words)) + (1 - gate) * words


class LetterWords(nn.Module):
    """Convolutions over the letters of each word, highways, and a projection."""

    def __init__(self, options: ElmoOptions) -> None:
        super().__init__()
        self._activation = ACTIVATIONS[options.activation]
        size = sum(count for _, count in options.filters)
        self.letters = nn.Embedding(options.letters, options.letter_size, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(options.letter_size, count, width) for width, count in options.filters
        )
        self.highways = nn.Sequential(*(Highway(size) for _ in range(options.highways)))
        self.projection = nn.Linear(size, options.word_size)

    def forward(self, letters: Tensor) -> Tensor:
        """Shape: (B, P, MAX_LETTERS) -> (B, P, word_size)"""
        rows = self.letters(letters.flatten(0, 1)).transpose(1, 2)  # (B * P, letter_size, MAX_LETTERS)
        strongest = [self._activation(convolution(rows).amax(-1)) for convolution in self.convolutions]
        words: Tensor = self.projection(self.highways(torch.cat(strongest, dim=-1)))  # (B * P, word_size)
        return words.view(*letters.shape[:2], -1)
