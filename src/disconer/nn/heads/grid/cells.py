"""All pairs of words of a batch, scored on grids: windows of like length share one, so that little of it is padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from disconer.nn.devices import cells_at_once, padded_count, sent, size_multiple
from disconer.nn.heads.grid.pair_grid import PairGrid, Pairs, pairs_within
from disconer.nn.heads.grid.pairs import length_groups, n_pairs
from disconer.nn.reader import Ints


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
    """Windows of like length, in sizes that a device likes; all together, where that is no large grid."""
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
