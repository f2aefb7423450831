"""A grid over pairs of words, convolved: each pair is scored in view of the pairs around it.

Cell (i, g) of a sentence is the pair of words i and i + g. So a grid has as many columns as there are gaps to look at,
not as many as there are words, and its size grows with the length of a sentence, not with its square.

All pairs of words of a batch are scored on several such grids: windows of like length share one, so that little of it
is padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad

from disconer.nn.arrays import length_groups
from disconer.nn.devices import cells_at_once, padded_count, sent, size_multiple
from disconer.nn.layers import GAP_CLASSES, gap_class
from disconer.nn.reader import Ints


def _shifted(values: Tensor, n_gaps: int) -> Tensor:
    """Of values of words, that of word i + g at (i, g), without copies.  Shape: (b, c, n) -> (b, c, n, gaps)"""
    return pad(values, (0, n_gaps - 1)).unfold(2, n_gaps, 1)


class Pairs(NamedTuple):
    """The pairs of words (first, first + gap) within sentences, in this order: by sentence, by first word, by gap.

    row: the sentence.  Shape: (pairs,) each
    """

    row: Tensor
    first: Tensor
    gap: Tensor


def pairs_within(lengths: Tensor, n_gaps: Tensor, *, n_words: int, n_pairs: int) -> Pairs:
    """All pairs of each sentence; an empty sentence has none.

    lengths: words of each sentence.  n_gaps: those of its grid.  Shape: (b,) each
    n_words, n_pairs: of all sentences. The device knows them, too, but reading them would mean waiting for it.

    >>> pairs = pairs_within(torch.tensor([1, 3]), torch.tensor([2, 2]), n_words=4, n_pairs=6)
    >>> torch.stack(pairs).T.tolist()
    [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1], [1, 2, 0]]
    """
    row = torch.repeat_interleave(lengths, output_size=n_words)  # of each word
    word = torch.arange(n_words, device=lengths.device) - (lengths.cumsum(0) - lengths)[row]  # in its sentence
    counts = torch.minimum(lengths[row] - word, n_gaps[row])  # of each word, the pairs that it is first of
    place = torch.repeat_interleave(counts, output_size=n_pairs)  # of each pair, its first word among all
    gap = torch.arange(n_pairs, device=lengths.device) - (counts.cumsum(0) - counts)[place]
    return Pairs(row[place], word[place], gap)


class PairGrid(nn.Module):
    """Scores pairs of words: features of both, their product and their distance, dilated convolutions, and a biaffine.

    word_size: numbers of a word vector.  channels: of the grid.
    dilations: of the 3 x 3 convolutions, one after another; the outputs of all of them are used.
    biaffine: size of the two vectors of a pair that are multiplied.
    hidden: units between the convolutions and the scores.
    n_scores: of each pair.
    """

    def __init__(
        self,
        *,
        word_size: int,
        channels: int,
        dilations: Sequence[int],
        biaffine: int,
        hidden: int,
        n_scores: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.added = nn.Linear(word_size, 2 * channels)
        self.multiplied = nn.Linear(word_size, 2 * channels)
        self.distance = nn.Embedding(GAP_CLASSES, channels)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels, channels, 3, dilation=dilation, padding=dilation) for dilation in dilations
        )
        self.hidden = nn.Linear(channels * (1 + len(dilations)), hidden)
        self.output = nn.Linear(hidden, n_scores)
        self.biaffine = Biaffine(word_size=word_size, size=biaffine, n_scores=n_scores, dropout=dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, lengths: Tensor, gaps: Tensor, pairs: Pairs | None = None) -> Tensor:
        """Scores of all pairs (i, i + g) within sentences, in the order of sentence, i and g.

        words:  Shape: (b, n, d).  lengths: words of each sentence.  Shape: (b,).  gaps: 0, 1, …  Shape: (g,)
        pairs: these pairs, if known; None: they are computed, and a GPU is waited for.
        Returns:  Shape: (pairs, n_scores)
        """
        n_words, n_gaps = words.shape[1], gaps.shape[0]
        second = torch.arange(n_words, device=words.device)[:, None] + gaps  # (n, g)
        exists = second < lengths[:, None, None]  # (b, n, g)
        features = self._features(words, gaps, exists.unsqueeze(1))  # (b, n, g, c)
        row, first, gap = pairs or exists.nonzero().unbind(-1)  # (pairs,) each
        word = row * n_words + first  # of each pair, the place of its first word in (b, n)
        cell = word * n_gaps + gap  # and its own in (b, n, g)
        chosen = features.flatten(0, 2).index_select(0, cell)  # (pairs, c): most of a grid may be past the ends
        hidden = gelu(self.hidden(self.dropout(chosen)))
        scores = self.output(self.dropout(hidden))
        both: Tensor = scores + self.biaffine(words, word * n_words + first + gap)  # pairs as places in (b, n, n)
        return both

    def _features(self, words: Tensor, gaps: Tensor, exists: Tensor) -> Tensor:
        """Shape: (b, n, d), (g,), (b, 1, n, g) -> (b, n, g, all channels)"""
        n_gaps = gaps.shape[0]
        first, second = self.added(words).transpose(1, 2).chunk(2, dim=1)  # (b, c, n) each
        left, right = self.multiplied(words).transpose(1, 2).chunk(2, dim=1)  # (b, c, n) each
        distance = self.distance(gap_class(gaps)).T.unsqueeze(1)  # (c, 1, g)
        grid = first.unsqueeze(-1) + _shifted(second, n_gaps) + left.unsqueeze(-1) * _shifted(right, n_gaps)
        real = exists.to(grid.dtype)
        grid = gelu(grid + distance.to(grid.dtype)) * real  # (b, c, n, g)
        layers = [grid]
        for convolution in self.convolutions:
            layers.append(gelu(convolution(self.dropout(layers[-1]))) * real)
        return torch.cat(layers, dim=1).permute(0, 2, 3, 1)


class Biaffine(nn.Module):
    """Scores of pairs by products of two vectors, one of each word, with a matrix for each score."""

    def __init__(self, *, word_size: int, size: int, n_scores: int, dropout: float) -> None:
        super().__init__()
        self.n_scores = n_scores
        self.first, self.second = nn.Linear(word_size, size), nn.Linear(word_size, size)
        self.matrices = nn.Parameter(torch.empty(size + 1, n_scores * (size + 1)))
        nn.init.normal_(self.matrices, std=0.01)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, pair: Tensor) -> Tensor:
        """pair: of words, as places in (b, n, n).  Shape: (b, n, d), (pairs,) -> (pairs, n_scores)"""
        # Dropout comes after the activation: before it, the mean of what the product sees would differ in prediction.
        first = pad(self.dropout(gelu(self.first(words))), (0, 1), value=1.0)  # (b, n, size + 1)
        second = pad(self.dropout(gelu(self.second(words))), (0, 1), value=1.0)  # (b, n, size + 1)
        return self.scores(first, second).flatten(0, 2).index_select(0, pair)

    def scores(self, first: Tensor, second: Tensor) -> Tensor:
        """Of all pairs of vectors.  Shape: (b, n, size + 1) twice -> (b, n, n, n_scores)"""
        n_rows, n_words = first.shape[:2]
        half = torch.matmul(first, self.matrices.to(first.dtype))  # (b, n, n_scores * (size + 1))
        half = half.view(n_rows, n_words * self.n_scores, -1)
        scores = torch.matmul(half, second.transpose(1, 2))  # (b, n * n_scores, n)
        return scores.view(n_rows, n_words, self.n_scores, n_words).transpose(2, 3)


class Cells(NamedTuple):
    """The pairs of words of a batch and their scores. M of them, by grid, then by window, first word and gap.

    row, first, gap: where they are.  Shape: (M,)
    scores:  Shape: (M, n_scores)
    """

    row: Tensor
    first: Tensor
    gap: Tensor
    scores: Tensor

    def numbers(self, n_rows: int, n_words: int) -> Tensor:
        """Where the cell of a row, a word and a gap is.  Shape: (B, N, N)"""
        numbers = self.row.new_zeros(n_rows, n_words, n_words)
        numbers[self.row, self.first, self.gap] = torch.arange(len(self.row), device=self.row.device)
        return numbers


class GridPlan(NamedTuple):
    """The windows that share a grid, and its size. What fills it up has no words.

    rows, lengths: of windows.  Shape: (b,) each
    """

    rows: Ints
    lengths: Ints
    n_words: int
    n_gaps: int

    @property
    def n_cells(self) -> int:
        return len(self.rows) * self.n_words * self.n_gaps

    def arrays(self) -> tuple[Ints, Ints, Ints]:
        return self.rows, self.lengths, np.full_like(self.rows, self.n_gaps)


def plan_grids(lengths: Ints, reach: int | None, device: torch.device) -> list[GridPlan]:
    """Groups of windows of similar length, padded to sizes that suit the device; one group if its grid is small."""
    every = _plan(np.arange(len(lengths)), lengths, reach, device)
    if every.n_cells <= cells_at_once(device):
        return [every]
    return [_plan(rows, lengths, reach, device) for rows in length_groups(lengths)]


def _plan(rows: Ints, lengths: Ints, reach: int | None, device: torch.device) -> GridPlan:
    n_words = padded_count(max(int(lengths[rows].max()), size_multiple(device)), device)
    filler = (0, padded_count(len(rows), device) - len(rows))
    n_gaps = min(reach or n_words, n_words)
    return GridPlan(np.pad(rows, filler), np.pad(lengths[rows], filler), n_words, n_gaps)


def score_cells(grid: PairGrid, plans: Sequence[GridPlan], words: Tensor) -> Cells:
    """All pairs of words of a batch.  words:  Shape: (B, N, d)"""
    words = pad(words, (0, 0, 0, max(0, max(plan.n_words for plan in plans) - words.shape[1])))
    rows, known, n_gaps = (np.concatenate(parts) for parts in zip(*(plan.arrays() for plan in plans), strict=True))
    row, length, gaps = sent([rows, known, n_gaps], words.device)
    counts = [n_pairs(plan.lengths, plan.n_gaps) for plan in plans]
    pairs = pairs_within(length, gaps, n_words=int(known.sum()), n_pairs=sum(counts))
    scores, start, done = [], 0, 0
    for plan, count in zip(plans, counts, strict=True):
        own, end = slice(start, start + len(plan.rows)), done + count
        of_grid = Pairs(pairs.row[done:end] - start, pairs.first[done:end], pairs.gap[done:end])
        gap = torch.arange(plan.n_gaps, device=words.device)
        scores.append(grid(words[row[own], : plan.n_words], length[own], gap, pairs=of_grid))
        start, done = own.stop, end
    return Cells(row[pairs.row], pairs.first, pairs.gap, torch.cat(scores))


def n_pairs(lengths: Ints, n_gaps: int) -> int:
    """How many pairs of words a grid of windows has.

    >>> n_pairs(np.array([1, 3]), 2)
    6
    """
    shorter = np.minimum(lengths, n_gaps)  # the last words of a window have fewer words after them than there are gaps
    return int((lengths * shorter - shorter * (shorter - 1) // 2).sum())
