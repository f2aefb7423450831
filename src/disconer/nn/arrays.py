"""Batches: windows as arrays of one size. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disconer.nn.reader import Bools, Ints, Reader
from disconer.nn.windows import Window

NO_HEAD = -1


@dataclass(frozen=True, slots=True)
class WordArrays:
    """What the word encoder reads. B windows, N words, R rows of P subwords, M subwords that belong to words.

    A row has the subwords of one window, or of several that follow one another, so that each is read in its context.

    piece_ids:  Shape: (R, P), or (R, P, C) where a subword is a row of numbers
    piece_mask:  Shape: (R, P)
    first_piece: of each word, the place of its first subword in the flattened (R, P).  Shape: (B, N)
    piece_places, word_places: subwords and the words that they belong to, as places in the flattened
        (R, P) and (B, N).  Shape: (M,)
    word_mask:  Shape: (B, N)
    real_words: the places of words in the flattened (B, N), as the others are padding. K of them.  Shape: (K,)
    own_mask: the words whose entities are learned from this window.  Shape: (B, N)
    heads: -1 for a root.  Shape: (B, N)
    parsed: whether the window has heads at all.  Shape: (B,)
    lengths: words of each window.  Shape: (B,)

    An exported graph has inputs of these names, so they are part of the format of exported models.
    """

    piece_ids: Ints
    piece_mask: Ints
    first_piece: Ints
    piece_places: Ints
    word_places: Ints
    word_mask: Bools
    real_words: Ints
    own_mask: Bools
    heads: Ints
    parsed: Bools
    lengths: Ints


def word_arrays(passages: Sequence[Sequence[Window]], reader: Reader, *, multiple: int = 1) -> WordArrays:
    """Pad windows to one size, a multiple of `multiple`: a GPU plans its work again for every new size.

    passages: windows whose subwords share a row.

    A batch may be a hundred short windows, so all of them are filled at once: the true positions of a mask, row by
    row, are in the order of the windows' concatenated values.
    """
    before, around = len(reader.prefix), len(reader.prefix) + len(reader.suffix)
    windows = [window for passage in passages for window in passage]
    row = np.repeat(np.arange(len(passages)), [len(passage) for passage in passages])  # of each window
    lengths = np.array([len(window) for window in windows])
    sizes = np.array([len(window.subwords.ids) for window in windows])
    n_subwords = np.bincount(row, sizes).astype(np.int64)  # of each row
    passed = np.cumsum(sizes) - sizes  # of each window, the subwords of all windows before it
    origin = before + passed - (np.cumsum(n_subwords) - n_subwords)[row]  # of each window, where in its row it starts
    word = np.arange(_round_up(lengths.max(), multiple))
    subword = np.arange(_round_up(max(1, n_subwords.max() + around), multiple))
    word_mask = word < lengths[:, None]  # (B, N)
    piece_mask = subword < n_subwords[:, None] + around  # (R, P)
    inner = (subword >= before) & (subword < n_subwords[:, None] + before)  # (R, P): subwords of the windows themselves
    ids = np.concatenate([window.subwords.ids for window in windows])  # (M,) or (M, C)
    piece_ids = np.full((*piece_mask.shape, *ids.shape[1:]), reader.padding)
    piece_ids[:, :before] = reader.prefix
    piece_ids[inner] = ids
    piece_ids[piece_mask & ~inner & (subword >= before)] = np.concatenate([reader.suffix] * len(passages))

    first = np.concatenate([window.subwords.first for window in windows])  # of each word, as its window counts subwords
    counts = np.concatenate([window.subwords.end for window in windows]) - first
    opening = np.repeat(row * len(subword), lengths)  # of each word, the place that opens its row
    start = opening + np.repeat(origin, lengths) + first  # of each word, the place of its first subword
    first_piece = np.zeros(word_mask.shape, dtype=np.int64)
    # A word without subwords gets the vector of what opens the row, usually a special token, not that of a neighbour.
    first_piece[word_mask] = np.where(counts, start, opening)
    earlier = np.cumsum(counts) - counts  # of each word, the subwords of all words before it
    real_words = np.flatnonzero(word_mask)

    own = np.array([window.own for window in windows]) - np.array([[window.start] for window in windows])  # (B, 2)
    heads, parsed = _heads(windows, word_mask)
    return WordArrays(
        piece_ids=piece_ids,
        piece_mask=piece_mask.astype(np.int64),
        first_piece=first_piece,
        piece_places=np.repeat(start - earlier, counts) + np.arange(counts.sum()),
        word_places=np.repeat(real_words, counts),
        word_mask=word_mask,
        real_words=real_words,
        own_mask=(word >= own[:, :1]) & (word < own[:, 1:]),
        heads=heads,
        parsed=parsed,
        lengths=lengths,
    )


def _round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _heads(windows: Sequence[Window], word_mask: Bools) -> tuple[Ints, Bools]:
    """The heads of all words, and which windows have any.  Shape: (B, N), (B,)"""
    heads = np.full(word_mask.shape, NO_HEAD)
    parsed = np.zeros(len(windows), dtype=bool)
    for row, window in enumerate(windows):
        if (known := window.heads) is not None:
            heads[row, : len(window)] = known
            parsed[row] = True
    return heads, parsed
