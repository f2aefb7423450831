"""Word vectors from a table, and from how words are spelt."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from disconer.nn.encoders.encoder import WordEncoder
from disconer.nn.encoders.vectors.reader import N_SYMBOLS, NO_BYTE, PADDING, UNKNOWN
from disconer.nn.tensors import WordBatch


class CharacterCnn(nn.Module):
    """The strongest answer of each filter anywhere in a word.

    size: numbers by which a byte is known. filters: numbers of a word's vector. width: bytes that a filter sees.
    """

    def __init__(self, *, size: int, filters: int, width: int) -> None:
        super().__init__()
        self.filters = filters
        self.symbols = nn.Embedding(N_SYMBOLS, size, padding_idx=NO_BYTE)
        self.convolution = nn.Conv1d(size, filters, width, padding="same")

    def forward(self, spelled: Tensor) -> Tensor:
        """Shape: (…, COLUMNS) -> (…, filters)"""
        rows = spelled.reshape(-1, spelled.shape[-1])  # (M, COLUMNS)
        answers: Tensor = self.convolution(self.symbols(rows).transpose(1, 2))  # (M, filters, COLUMNS)
        answers = answers.masked_fill((rows == NO_BYTE).unsqueeze(1), -torch.inf)
        strongest = answers.amax(-1).relu()  # (M, filters); where a row is all padding, zero
        return strongest.view(*spelled.shape[:-1], self.filters)


class VectorWords(WordEncoder):
    """Rows of a table.

    table: its first two rows, for padding and unknown words, are not used.  Shape: (n, d)
    characters: adds what the spelling of a word says; None: nothing.
    unknown: share of words that are read as unknown in training, so that the model learns what to make of these.
    """

    def __init__(self, *, table: Tensor, characters: CharacterCnn | None, unknown: float) -> None:
        super().__init__()
        n_rows, self._table_size = table.shape
        self.table = nn.Embedding(n_rows, self._table_size, padding_idx=PADDING, _weight=table)
        self.characters = characters
        self.unknown = nn.Parameter(torch.zeros(self._table_size))
        self._unknown_share = unknown

    @property
    def size(self) -> int:
        return self._table_size + (self.characters.filters if self.characters else 0)

    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, size)"""
        rows = batch.piece_ids[..., 0]  # (B, N): a piece is a word
        if self.training and self._unknown_share:
            hidden = torch.rand(rows.shape, device=rows.device) < self._unknown_share
            rows = rows.masked_fill(hidden & (rows != PADDING), UNKNOWN)
        vectors = torch.where((rows == UNKNOWN).unsqueeze(-1), self.unknown, self.table(rows))  # (B, N, d)
        if self.characters is None:
            return vectors
        spelled: Tensor = self.characters(batch.piece_ids[..., 1:])
        return torch.cat([vectors, spelled.to(vectors.dtype)], dim=-1)

    def pretrained_parameters(self) -> list[nn.Parameter]:
        return list(self.table.parameters())

    def description(self) -> dict[str, Any]:
        return {"size": self._table_size}
