"""Batches: windows as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from disconer.model.pieces import PieceTokenizer
from disconer.model.windows import Window

NO_HEAD = -1


@dataclass(frozen=True, slots=True)
class WordBatch:
    """What the word encoder reads. B windows, N words, P pieces, M pieces that belong to words.

    piece_ids, piece_mask:  Shape: (B, P)
    first_piece: of each word, the place of its first piece in the row.  Shape: (B, N)
    piece_places, word_places: pieces and the words that they belong to, as places in the flattened
        (B, P) and (B, N).  Shape: (M,)
    word_mask:  Shape: (B, N)
    own_mask: the words whose spans are learnt from this window.  Shape: (B, N)
    heads: -1 for a root.  Shape: (B, N)
    parsed: whether the window has heads at all.  Shape: (B,)
    lengths: words of each window; a plain list, so that reading it never waits for the device.
    """

    piece_ids: Tensor
    piece_mask: Tensor
    first_piece: Tensor
    piece_places: Tensor
    word_places: Tensor
    word_mask: Tensor
    own_mask: Tensor
    heads: Tensor
    parsed: Tensor
    lengths: list[int]

    def to(self, device: torch.device) -> WordBatch:
        moved: dict[str, Any] = {
            field.name: value.to(device, non_blocking=True) if isinstance(value, Tensor) else value
            for field in fields(self)
            for value in [getattr(self, field.name)]
        }
        return WordBatch(**moved)


def word_batch(windows: Sequence[Window], tokenizer: PieceTokenizer) -> WordBatch:
    """Pad windows to one size."""
    before, around = len(tokenizer.prefix), len(tokenizer.prefix) + len(tokenizer.suffix)
    n_rows, n_words = len(windows), max(map(len, windows))
    n_pieces = max(1, max(len(window.pieces.ids) for window in windows) + around)
    piece_ids = np.full((n_rows, n_pieces), tokenizer.pad_id, dtype=np.int64)
    lengths = np.array([len(window) for window in windows])
    row_pieces = np.array([len(window.pieces.ids) + around for window in windows])
    first_piece = np.zeros((n_rows, n_words), dtype=np.int64)
    own = np.zeros((n_rows, n_words), dtype=bool)
    heads = np.full((n_rows, n_words), NO_HEAD, dtype=np.int64)
    parsed = np.zeros(n_rows, dtype=bool)
    places: list[np.ndarray] = []
    owners: list[np.ndarray] = []
    for row, window in enumerate(windows):
        pieces = window.pieces
        piece_ids[row, : row_pieces[row]] = [*tokenizer.prefix, *pieces.ids, *tokenizer.suffix]
        # A word without pieces takes the piece before it, or the special piece that opens the row.
        missing = pieces.first == pieces.end
        first_piece[row, : len(window)] = pieces.first + before - missing
        counts = pieces.end - pieces.first
        word = np.repeat(np.arange(len(window)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places.append(row * n_pieces + before + np.repeat(pieces.first, counts) + within)
        owners.append(row * n_words + word)
        own[row, window.own[0] - window.start : window.own[1] - window.start] = True
        if (known := window.heads) is not None:
            heads[row, : len(window)] = known
            parsed[row] = True
    columns = np.arange(max(n_pieces, n_words))
    return WordBatch(
        piece_ids=torch.from_numpy(piece_ids),
        piece_mask=torch.from_numpy(columns[:n_pieces] < row_pieces[:, None]).long(),
        first_piece=torch.from_numpy(np.maximum(first_piece, 0)),
        piece_places=torch.from_numpy(np.concatenate(places)),
        word_places=torch.from_numpy(np.concatenate(owners)),
        word_mask=torch.from_numpy(columns[:n_words] < lengths[:, None]),
        own_mask=torch.from_numpy(own),
        heads=torch.from_numpy(heads),
        parsed=torch.from_numpy(parsed),
        lengths=lengths.tolist(),
    )
