"""Batches: windows as arrays of one size. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from disconer.nn.reader import Bools, Ints, Reader
from disconer.nn.windows import Window

NO_HEAD = -1
KEPT_SIZES = 512  # sizes of single windows whose arrays are cached
# Of a batch, windows of like length are scored together: each is padded to the longest of those beside it.
LENGTHS = (8, 16, 32, 64, 128, 256)


def columns(rows: Sequence[tuple[int, ...]], n_columns: int) -> Ints:
    """Rows of whole numbers, of which there may be none, by column.  Shape: (n_columns, rows)"""
    return np.array(rows, dtype=np.int64).reshape(-1, n_columns).T


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
    if multiple == 1 and len(passages) == len(passages[0]) == 1 and len(passages[0][0].subwords.ids):
        return _of_one_window(passages[0][0], reader)
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

    heads, parsed = _heads(windows, word_mask)
    return WordArrays(
        piece_ids=piece_ids,
        piece_mask=piece_mask.astype(np.int64),
        first_piece=first_piece,
        piece_places=np.repeat(start - earlier, counts) + np.arange(counts.sum()),
        word_places=np.repeat(real_words, counts),
        word_mask=word_mask,
        real_words=real_words,
        own_mask=_own_mask(word, windows),
        heads=heads,
        parsed=parsed,
        lengths=lengths,
    )


def _of_one_window(window: Window, reader: Reader) -> WordArrays:
    """The same for a single window: there is no padding, whatever depends on sizes alone is cached, and lists take
    less time than arrays of a few numbers.
    """
    before, n_words = len(reader.prefix), len(window)
    piece_ids = np.concatenate([reader.prefix, window.subwords.ids, reader.suffix])[None]
    ranges = list(zip((window.subwords.first + before).tolist(), (window.subwords.end + before).tolist(), strict=True))
    words = _words_of(n_words)
    heads, parsed = (words.heads, words.parsed) if window.heads is None else _heads([window], words.mask)
    is_own = words.mask if window.own == (window.start, window.end) else _own_mask(words.number, [window])
    return WordArrays(
        piece_ids=piece_ids,
        piece_mask=_pieces_of(piece_ids.shape[1]),
        first_piece=np.array([[first if first < end else 0 for first, end in ranges]]),
        piece_places=np.array([place for word in ranges for place in range(*word)], np.int64),
        word_places=np.array([number for number, word in enumerate(ranges) for _ in range(*word)], np.int64),
        word_mask=words.mask,
        real_words=words.number,
        own_mask=is_own,
        heads=heads,
        parsed=parsed,
        lengths=words.lengths,
    )


class _Words(NamedTuple):
    """Arrays of a window without heads that depend only on its number of words: cached, so never to be written to."""

    number: Ints
    mask: Bools
    heads: Ints
    parsed: Bools
    lengths: Ints


@lru_cache(maxsize=KEPT_SIZES)
def _words_of(n_words: int) -> _Words:
    mask = np.ones((1, n_words), dtype=bool)
    heads = np.full(mask.shape, NO_HEAD)
    return _Words(np.arange(n_words), mask, heads, np.zeros(1, dtype=bool), np.array([n_words]))


@lru_cache(maxsize=KEPT_SIZES)
def _pieces_of(n_subwords: int) -> Ints:
    return np.ones((1, n_subwords), np.int64)


def _round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _own_mask(word: Ints, windows: Sequence[Window]) -> Bools:
    """Shape: (N,) -> (B, N)"""
    own = np.array([window.own for window in windows]) - np.array([[window.start] for window in windows])  # (B, 2)
    mask: Bools = (word >= own[:, :1]) & (word < own[:, 1:])
    return mask


def _heads(windows: Sequence[Window], word_mask: Bools) -> tuple[Ints, Bools]:
    """The heads of all words, and which windows have any.  Shape: (B, N), (B,)"""
    heads = np.full(word_mask.shape, NO_HEAD)
    parsed = np.zeros(len(windows), dtype=bool)
    for row, window in enumerate(windows):
        if (known := window.heads) is not None:
            heads[row, : len(window)] = known
            parsed[row] = True
    return heads, parsed


# Sentences in lanes, one after another, for an LSTM that computes padding as if it were words, as ONNX's does: on Chia,
# three of five. So several short sentences share a lane as long as the longest, with a break between them, at which the
# LSTM forgets what it has read.
LANE_WORDS, LANE_PLACES = "lane_words", "lane_places"  # inputs of graphs with an LSTM


def length_groups(lengths: Ints) -> list[Ints]:
    """The windows of a batch by number, those of like length together."""
    if len(lengths) == 1:
        return [np.zeros(1, np.int64)]
    group = np.searchsorted(LENGTHS, lengths)
    return [np.flatnonzero(group == number) for number in np.unique(group)]


class Lanes(NamedTuple):
    """Of a batch of B windows, padded to N words, as many as the longest has.

    words: what is read at each step in each lane: a word as its place in the flattened (B, N), or B * N for a break.
        Shape: (steps, lanes)
    places: of each word, where it is read, in the flattened (steps, lanes); of padding, a break.  Shape: (B, N)
    """

    words: Ints
    places: Ints


def lanes_of(lengths: Ints) -> Lanes:
    """lengths: words of each window.

    >>> lanes = lanes_of(np.array([2, 5, 2]))
    >>> lanes.words.T.tolist()
    [[5, 6, 7, 8, 9], [0, 1, 15, 10, 11]]
    >>> lanes.places.tolist()
    [[1, 3, 5, 5, 5], [0, 2, 4, 6, 8], [7, 9, 5, 5, 5]]
    """
    n_words = int(lengths.max())
    if len(lengths) == 1:
        return _one_lane(n_words)
    lane, first_step = _first_fit(lengths)
    row = np.repeat(np.arange(len(lengths)), lengths)  # of each word
    word = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    a_break = len(lengths) * n_words
    words = np.full((n_words, int(lane.max()) + 1), a_break)
    step = first_step[row] + word
    words[step, lane[row]] = row * n_words + word
    # Where a window is padded, its lane has a break: it is shorter than the lane.
    places = np.full((len(lengths), n_words), int((words == a_break).argmax()))
    places[row, word] = step * words.shape[1] + lane[row]
    return Lanes(words, places)


@lru_cache(maxsize=KEPT_SIZES)
def _one_lane(n_words: int) -> Lanes:
    words = np.arange(n_words)
    return Lanes(words[:, None], words[None])


def _first_fit(lengths: Ints) -> tuple[Ints, Ints]:
    """The lane of each window, and the step at which it begins there: the longest first, each in the first lane with
    room for it.  Shape: (B,) each
    """
    n_steps = int(lengths.max())
    lane, first_step = np.zeros_like(lengths), np.zeros_like(lengths)
    free: list[int] = []  # of each lane, its first free step
    for row in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[row])
        chosen = next((number for number, step in enumerate(free) if step + length <= n_steps), len(free))
        if chosen == len(free):
            free.append(0)
        lane[row], first_step[row] = chosen, free[chosen]
        free[chosen] += length + 1
    return lane, first_step
