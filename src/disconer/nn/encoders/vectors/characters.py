"""Word vectors from spelling: a convolution over the bytes of each word."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from disconer.nn.encoders.vectors.spelling import N_SYMBOLS, PADDING


class CharacterCnn(nn.Module):
    """The strongest answer of each filter anywhere in a word.

    size: numbers by which a byte is known. filters: numbers of a word's vector. width: bytes that a filter sees.
    """

    def __init__(self, *, size: int, filters: int, width: int) -> None:
        super().__init__()
        self.filters = filters
        self.symbols = nn.Embedding(N_SYMBOLS, size, padding_idx=PADDING)
        self.convolution = nn.Conv1d(size, filters, width, padding="same")

    def forward(self, spelled: Tensor) -> Tensor:
        """Shape: (…, COLUMNS) -> (…, filters)"""
        rows = spelled.reshape(-1, spelled.shape[-1])  # (M, COLUMNS)
        answers: Tensor = self.convolution(self.symbols(rows).transpose(1, 2))  # (M, filters, COLUMNS)
        answers = answers.masked_fill((rows == PADDING).unsqueeze(1), -torch.inf)
        strongest = answers.amax(-1).relu()  # (M, filters); where a row is all padding, zero
        return strongest.view(*spelled.shape[:-1], self.filters)
