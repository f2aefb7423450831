"""Encodings of word vectors: from a file of vectors, and from a model folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from disconer.config import CharacterConfig, EncoderConfig
from disconer.core.errors import DisconerError, Where
from disconer.core.files import CONFIG
from disconer.nn.encoders.encoder import Encoding
from disconer.nn.encoders.vectors import VectorTable, load_vectors
from disconer.nn.encoders.vectors.encoder import CharacterCnn, VectorWords
from disconer.nn.encoders.vectors.reader import N_SPECIAL, WordReader, load_words


def load_vector_encoding(config: EncoderConfig, words: Iterable[str]) -> Encoding:
    """The rows of a file of vectors that a model for texts with these words needs, or all of them."""
    source = load_vectors(config.name)
    distinct = set(words)
    rows = _rows(source, distinct, config.rows)
    if not len(rows):
        raise DisconerError(
            f"Not one of the {len(distinct):,} distinct words of the data has a vector",
            where=Where(config.name),
            fix="These vectors are of another language, or split words otherwise: choose others.",
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
    words = load_words(folder)
    size = description.get("size")
    if not isinstance(size, int) or size < 1:
        raise DisconerError(
            "The word vectors of this model are not described",
            where=Where(str(folder / CONFIG)),
            got=f"a size of {size}",
            fix="Copy the model again, whole.",
        )
    table = torch.zeros(N_SPECIAL + len(words), size)
    return Encoding(_vector_words(config, table), WordReader(words, spelled=config.characters is not None))


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
        f"word vectors: {len(source):,} of {source.size} numbers, {n_kept:,} of them kept; "
        f"{n_known:,} of {len(words):,} distinct words have one"
    )
    for reason, count in source.left_out.items():
        yield f"left out of the word vectors: {count:,} {reason}"
