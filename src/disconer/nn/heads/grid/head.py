"""The grid head: targets, loss and decoding on a grid over pairs of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from disconer.nn.devices import WordBatch, moved
from disconer.nn.heads.grid.pair_grid import Cells, PairGrid, plan_grids, score_cells
from disconer.nn.heads.grid.reading import AFTER_LABELS, Decoding, Likely, read_likely
from disconer.nn.heads.grid.targets import GridTargets, grid_targets
from disconer.nn.heads.kind import near_threshold
from disconer.nn.interfaces import AxisNames
from disconer.nn.layers import prior_bias
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

        wanted = torch.zeros_like(cells.scores[:, :n_labels])
        wanted[entity, label] = 1
        # A pair may be an entity of a label twice, with and without a gap: the larger weight counts.
        heavier = torch.ones_like(wanted).flatten()
        own_weight = torch.where(gapped == 1, self.gap_weight, 1.0).to(heavier)
        heavier.scatter_reduce_(0, entity * n_labels + label, own_weight, "amax", include_self=False)
        weight = learnt[:, None] * heavier.view_as(wanted)
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

    def near(self) -> GridHead:
        """See `NearHead`."""
        other = copy(self)
        other.threshold = near_threshold(self.threshold)
        return other

    # Both

    def _cells(self, words: Tensor, lengths: Sequence[int]) -> Cells:
        cells = score_cells(self.grid, plan_grids(np.asarray(lengths), self.reach, words.device), words)
        return cells._replace(scores=cells.scores.float())


def _with_rows(targets: Sequence[Ints]) -> Tensor:
    """Targets of windows one after another, the number of the window before each.  Shape: (1 + columns, all)"""
    row = np.repeat(np.arange(len(targets)), [one.shape[1] for one in targets])
    return torch.from_numpy(np.concatenate([row[None], np.concatenate(targets, axis=1)]))


def _cross_entropy(scores: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(scores, wanted, weight, reduction="sum")
