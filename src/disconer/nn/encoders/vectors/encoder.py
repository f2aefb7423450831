"""Word vectors from a table and from the characters of words: the layers, and how they are loaded and built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from disconer.config import CharacterConfig, EncoderConfig
from disconer.core.errors import DisconerError, Where
from disconer.core.places import CONFIG
from disconer.nn.devices import WordBatch
from disconer.nn.encoders.vectors import (
    N_SPECIAL,
    N_SYMBOLS,
    NO_BYTE,
    PADDING,
    UNKNOWN,
    WordReader,
    load_word_reader,
)
from disconer.nn.encoders.vectors.table import VectorTable, load_vectors
from disconer.nn.interfaces import Encoding, WordEncoder


class CharacterCnn(nn.Module):
    """A character CNN: the maximum of each filter over a word.

    size: of a byte's embedding. filters: size of the resulting vector. width: kernel width in bytes.
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
    characters: the character CNN, whose output is appended; None: no characters.
    unknown: probability that a word is read as unknown in training, so that the model learns to handle unknown words.
    """

    def __init__(self, *, table: Tensor, characters: CharacterCnn | None, unknown: float) -> None:
        super().__init__()
        n_rows, self._table_size = table.shape
        self.table = nn.Embedding(n_rows, self._table_size, padding_idx=PADDING, _weight=table)
        self.characters = characters
        self.unknown = nn.Parameter(torch.zeros(self._table_size))
        self._unknown_probability = unknown

    @property
    def size(self) -> int:
        return self._table_size + (self.characters.filters if self.characters else 0)

    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, size)"""
        rows = batch.piece_ids[..., 0]  # (B, N): a subword is a word
        if self.training and self._unknown_probability:
            hidden = torch.rand(rows.shape, device=rows.device) < self._unknown_probability
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


def load_vector_encoding(config: EncoderConfig, words: Iterable[str]) -> Encoding:
    """The rows of a file of vectors that a model for texts with these words needs, or all of them."""
    source = load_vectors(config.name)
    distinct = set(words)
    rows = _rows(source, distinct, config.rows)
    if not len(rows):
        raise DisconerError(
            f"None of the {len(distinct):,} distinct words of the data has a vector",
            where=Where(config.name),
            fix="These vectors are for another language or another tokenization: choose others.",
        )
    table = torch.zeros(N_SPECIAL + len(rows), source.size)
    table[N_SPECIAL:] = torch.from_numpy(source.vectors[rows])
    encoder = _vector_words(config, table)
    with torch.no_grad():
        encoder.unknown.copy_(table[N_SPECIAL:].mean(0))
    reader = WordReader([source.word(row) for row in rows.tolist()], spelled=config.characters is not None)
    return Encoding(encoder, reader, tuple(_notes(source, distinct, len(rows))))


def build_vector_encoding(config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
    """What a model folder describes; the table is empty."""
    reader = load_word_reader(config, folder)
    size = description.get("size")
    if not isinstance(size, int) or size < 1:
        raise DisconerError(
            "The word vectors of this model are not described",
            where=Where(str(folder / CONFIG)),
            got=f"a size of {size}",
            fix="Copy the complete model again.",
        )
    table = torch.zeros(N_SPECIAL + len(reader.words), size)
    return Encoding(_vector_words(config, table), reader)


def _vector_words(config: EncoderConfig, table: torch.Tensor) -> VectorWords:
    characters = None if config.characters is None else _character_cnn(config.characters)
    return VectorWords(table=table, characters=characters, unknown=config.unknown)


def _character_cnn(config: CharacterConfig) -> CharacterCnn:
    return CharacterCnn(size=config.size, filters=config.filters, width=config.width)


def _rows(source: VectorTable, words: set[str], wanted: str | int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows to be kept, in the order of the source."""
    if wanted == "all":
        return np.sort(source.index.rows)
    first = [] if wanted == "data" else np.sort(source.index.rows)[: int(wanted)].tolist()
    return np.array(sorted({*source.rows_of(words), *first}), dtype=np.int64)


def _notes(source: VectorTable, words: set[str], n_kept: int) -> Iterable[str]:
    n_known = sum(source.find(word) is not None for word in words)
    yield (
        f"word vectors: {len(source):,} of size {source.size}, {n_kept:,} of them kept; "
        f"{n_known:,} of {len(words):,} distinct words have one"
    )
    for reason, count in source.left_out.items():
        yield f"left out of the word vectors: {count:,} {reason}"
