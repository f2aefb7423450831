"""From the entities of a sentence to what the grid head learns: cells of entities, and links between their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from disconer.evaluate.check import WordEntity
from disconer.nn.reader import Ints


@dataclass(frozen=True, slots=True)
class GridTargets:
    """The targets of a sentence. E entities, L links.

    entities: first word, gap to the last, number of the label, and whether there is a gap inside.  Shape: (4, E)
    links: a word of an entity, and the gap to the next word of it.  Shape: (2, L)
    unknown: words of entities that a window cuts: what pairs with them are cannot be said.  Shape: (U,)
    """

    entities: Ints
    links: Ints
    unknown: Ints


def grid_targets(
    entities: Iterable[WordEntity], label_numbers: Mapping[str, int], reach: int | None, unknown: Iterable[int] = ()
) -> GridTargets:
    """The targets of one sentence; entities of more than `reach` words from first to last are out of reach."""
    cells: set[tuple[int, int, int, int]] = set()
    links: set[tuple[int, int]] = set()
    for label, ranges in entities:
        first, last = ranges[0][0], ranges[-1][1] - 1
        if reach is None or last - first < reach:
            cells.add((first, last - first, label_numbers[label], int(len(ranges) > 1)))
            words = [word for start, end in ranges for word in range(start, end)]
            links.update((word, following - word) for word, following in pairwise(words))
    return GridTargets(
        _columns(sorted(cells), 4), _columns(sorted(links), 2), np.array(sorted(set(unknown)), dtype=np.int64)
    )


def _columns(rows: list[tuple[int, ...]], n_columns: int) -> Ints:
    """Shape: (n_columns, rows)"""
    return np.array(rows, dtype=np.int64).reshape(-1, n_columns).T
