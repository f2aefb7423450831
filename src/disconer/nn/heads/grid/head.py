"""The grid head: targets, loss and decoding on a grid over pairs of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, pad

from disconer.nn.devices import cells_at_once, moved, padded_count, sent, size_multiple
from disconer.nn.heads.grid.likely import Likely, read_likely
from disconer.nn.heads.grid.reading import (
    AFTER_LABELS,
    Decoding,
    length_groups,
    n_pairs,
)
from disconer.nn.heads.grid.targets import GridTargets, grid_targets
from disconer.nn.layers.pair_grid import PairGrid, Pairs, pairs_within, prior_bias
from disconer.nn.parts import AxisNames, WordBatch
from disconer.nn.reader import Ints
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

RARE, LIKELY = 0.02, 0.9  # first probabilities: of labels, links and gaps, and of entities without a gap


@dataclass(frozen=True, slots=True)
class GridTargetBatch:
    """The targets of the windows of a batch, as in `GridTargets`, with the row of each before them.

    entities:  Shape: (5, E).  links:  Shape: (3, L).  unknown:  Shape: (2, U)
    """

    entities: Tensor
    links: Tensor
    unknown: Tensor

    def to(self, device: torch.device) -> GridTargetBatch:
        return replace(self, **{name: moved(getattr(self, name), device) for name in self.__slots__})


class Cells(NamedTuple):
    """The pairs of words of a batch and their scores. M of them.

    row, first, gap: where they are.  Shape: (M,)
    scores:  Shape: (M, labels + AFTER_LABELS)
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


class Scored(NamedTuple):
    """What the network says of a batch, on its device; lengths: of its windows, on the CPU."""

    cells: Cells
    lengths: list[int]


class GridHead(nn.Module):
    """Entities from pairs of words. See `GridSettings`.

    A pair is scored for each label (it is the first and last word of such an entity), as a link (the second is the next
    word after the first in some entity), and, if it is an entity, for being one without a gap, and with one.
    """

    def __init__(
        self,
        *,
        labels: Sequence[str],
        grid: PairGrid,
        reach: int | None,
        gap_weight: float,
        threshold: float,
        decoding: Decoding,
    ) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.label_numbers = {label: number for number, label in enumerate(self.labels)}
        self.grid = grid
        self.reach, self.gap_weight, self.threshold, self.decoding = reach, gap_weight, threshold, decoding
        with torch.no_grad():
            grid.output.bias.fill_(prior_bias(RARE))
            grid.output.bias[-2] = prior_bias(LIKELY)

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"grid": self.grid}

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`. The matrices of the scores lie side by side."""
        scores = (*self.labels, *range(AFTER_LABELS))
        matrices = self.grid.biaffine.matrices
        columns = [(score, column) for score in scores for column in range(matrices.shape[1] // len(scores))]
        return {
            "grid.output.weight": {0: scores},
            "grid.output.bias": {0: scores},
            "grid.biaffine.matrices": {1: columns},
        }

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> GridTargets:
        """See `Head`."""
        known = [entity for entity in entities if entity.label in self.label_numbers]
        held = window.within(known)
        cut = [entity for entity in known if not window.holds(entity)]
        words = (word - window.start for entity in cut for start, end in entity.ranges for word in range(start, end))
        inside = (word for word in words if 0 <= word < len(window))
        return grid_targets((entity.key for entity in held), self.label_numbers, self.reach, inside)

    def batch_targets(self, targets: Sequence[GridTargets]) -> GridTargetBatch:
        """See `Head`."""
        return GridTargetBatch(
            _with_rows([one.entities for one in targets]),
            _with_rows([one.links for one in targets]),
            _with_rows([one.unknown[None] for one in targets]),
        )

    def loss(self, words: Tensor, batch: WordBatch, targets: GridTargetBatch) -> Tensor:
        """See `Head`: summed binary cross entropies of labels, links, and gaps of entities."""
        cells = self._cells(words, batch.lengths)
        number = cells.numbers(*words.shape[:2])
        row, first, gap, label, gapped = targets.entities
        entity, link = number[row, first, gap], number[tuple(targets.links)]
        learnt = self._learnt(cells, batch, targets.unknown)  # (M,)
        n_labels = len(self.labels)

        heavier = torch.where(gapped == 1, self.gap_weight, 1.0)
        wanted = torch.zeros_like(cells.scores[:, :n_labels])
        wanted[entity, label] = 1
        weight = learnt[:, None].repeat(1, n_labels)
        weight[entity, label] *= heavier
        loss = _cross_entropy(cells.scores[:, :n_labels], wanted, weight)

        linked = torch.zeros_like(learnt)
        linked[link] = 1
        over_gap = (linked == 1) & (cells.gap > 1)
        loss = loss + _cross_entropy(cells.scores[:, n_labels], linked, learnt * (1 + over_gap * (self.gap_weight - 1)))
        if self.decoding == "paths":
            return loss
        kinds = torch.zeros_like(cells.scores[:, -2:])
        kinds[entity, gapped] = 1
        is_entity = torch.zeros_like(learnt)
        is_entity[entity] = 1
        return loss + _cross_entropy(cells.scores[:, -2:], kinds, (learnt * is_entity)[:, None].expand_as(kinds))

    def _learnt(self, cells: Cells, batch: WordBatch, unknown: Tensor) -> Tensor:
        """1 for pairs that teach something, else 0: where windows overlap, one of them does.  Shape: (M,)"""
        is_known = torch.ones_like(batch.own_mask)
        is_known[tuple(unknown)] = False
        second = cells.first + cells.gap
        learnt = batch.own_mask[cells.row, cells.first]
        learnt = learnt & is_known[cells.row, cells.first] & is_known[cells.row, second]
        return learnt.to(cells.scores.dtype)

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> Scored:
        """See `Head`."""
        return Scored(self._cells(words, batch.lengths), batch.lengths)

    def fetch(self, launched: Scored) -> Likely:
        """See `Fetching`. Only what is likely leaves the device, at once."""
        (row, first, gap, scores), lengths = launched
        probabilities = scores.sigmoid()
        n_labels = len(self.labels)
        is_likely = probabilities[:, : n_labels + 1] > self.threshold  # of labels, and of a link
        is_likely[:, n_labels] &= gap > 0
        cell, column = is_likely.nonzero(as_tuple=True)
        kinds = probabilities[cell, -2:].T
        place = torch.stack([row[cell], first[cell], first[cell] + gap[cell], column])
        found = torch.cat([place.float(), probabilities[cell, column][None], kinds])
        return Likely(found.cpu().numpy(), len(lengths))

    def collect(self, launched: Scored) -> list[list[Found]]:
        """See `Head`."""
        return read_likely(self.fetch(launched), self.labels, threshold=self.threshold, decoding=self.decoding)

    # Both

    def _cells(self, words: Tensor, lengths: Sequence[int]) -> Cells:
        """All pairs of words of a batch. Windows of like length share a grid, so that little of it is padding."""
        grids = self._grids(np.asarray(lengths), words.device)
        words = pad(words, (0, 0, 0, max(0, max(grid.n_words for grid in grids) - words.shape[1])))
        rows, known, n_gaps = (np.concatenate(parts) for parts in zip(*(grid.arrays() for grid in grids), strict=True))
        row, length, gaps = sent([rows, known, n_gaps], words.device)
        counts = [n_pairs(grid.lengths, grid.n_gaps) for grid in grids]
        pairs = pairs_within(length, gaps, n_words=int(known.sum()), n_pairs=sum(counts))
        scores, start, done = [], 0, 0
        for grid, count in zip(grids, counts, strict=True):
            own, end = slice(start, start + len(grid.rows)), done + count
            of_grid = Pairs(pairs.row[done:end] - start, pairs.first[done:end], pairs.gap[done:end])
            gap = torch.arange(grid.n_gaps, device=words.device)
            scores.append(self.grid(words[row[own], : grid.n_words], length[own], gap, pairs=of_grid).float())
            start, done = own.stop, end
        return Cells(row[pairs.row], pairs.first, pairs.gap, torch.cat(scores))

    def _grids(self, lengths: Ints, device: torch.device) -> list[GridPlan]:
        """Windows of like length, in sizes that a device likes; all together, where that is no large grid."""
        every = self._plan(np.arange(len(lengths)), lengths, device)
        if every.n_cells <= cells_at_once(device):
            return [every]
        return [self._plan(rows, lengths, device) for rows in length_groups(lengths)]

    def _plan(self, rows: Ints, lengths: Ints, device: torch.device) -> GridPlan:
        n_words = padded_count(max(int(lengths[rows].max()), size_multiple(device)), device)
        filler = (0, padded_count(len(rows), device) - len(rows))
        n_gaps = min(self.reach or n_words, n_words)
        return GridPlan(np.pad(rows, filler), np.pad(lengths[rows], filler), n_words, n_gaps)


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


def _with_rows(targets: Sequence[Ints]) -> Tensor:
    """Targets of windows one after another, the number of the window before each.  Shape: (1 + columns, all)"""
    row = np.repeat(np.arange(len(targets)), [one.shape[1] for one in targets])
    return torch.from_numpy(np.concatenate([row[None], np.concatenate(targets, axis=1)]))


def _cross_entropy(scores: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(scores, wanted, weight, reduction="sum")
