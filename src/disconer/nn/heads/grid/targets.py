"""What the grid head learns from the entities of a sentence, and what it then finds at best (the oracle). No torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from disconer.evaluate.check import Reach, WordEntity
from disconer.nn.arrays import columns
from disconer.nn.heads.grid.reading import Decoding, Envelopes, Steps, is_part, read_entities
from disconer.nn.reader import Floats, Ints
from disconer.text.alignment import TokenEntity


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
        columns(sorted(cells), 4), columns(sorted(links), 2), np.array(sorted(set(unknown)), dtype=np.int64)
    )


# Why an entity is lost.
TOO_MANY = "is one of too many entities between the same two words"
A_PART = "is discontinuous and a part of another such entity of its label"


def too_far(reach: int) -> str:
    return f"has more than {reach} words from its first to its last (head.reach)"


def grid_reach(entities: Sequence[TokenEntity], reach: int | None, decoding: Decoding) -> Reach:
    """What can be found of the entities of a sentence: their targets, read as if the network were sure of them."""
    keys = tuple(dict.fromkeys(entity.key for entity in entities))
    if decoding == "envelopes" and all(len(ranges) == 1 for _, ranges in keys):  # nothing is ambiguous
        near = [key for key in keys if reach is None or key[1][0][1] - key[1][0][0] <= reach]
        return Reach(frozenset(near), {key: too_far(reach or 0) for key in keys if key not in near})
    labels = sorted({label for label, _ in keys})
    targets = grid_targets(keys, {label: number for number, label in enumerate(labels)}, reach)
    first, gap, label, gapped = targets.entities
    word, step = targets.links
    # Whether there is a gap is asked once for a pair of words, whatever its labels.
    same = (first[:, None] == first) & (gap[:, None] == gap)  # (E, E)
    whole, with_gap = (same & (gapped == 0)).any(axis=1), (same & (gapped == 1)).any(axis=1)  # (E,) each
    envelopes = Envelopes(
        np.zeros_like(first),
        first,
        first + gap,
        label,
        _sure(first),
        whole.astype(np.float32),
        with_gap.astype(np.float32),
    )
    steps = Steps(np.zeros_like(word), word, word + step, _sure(word))
    (read,) = read_entities(envelopes, steps, labels, n_rows=1, threshold=0.5, decoding=decoding)
    found = frozenset((entity.label, entity.ranges) for entity in read)
    return Reach(found, {key: _why_lost(key, found, reach) for key in keys if key not in found})


def _why_lost(key: WordEntity, found: Iterable[WordEntity], reach: int | None) -> str:
    label, ranges = key
    if reach is not None and ranges[-1][1] - ranges[0][0] > reach:
        return too_far(reach)
    hidden = len(ranges) > 1 and any(label == other and is_part(ranges, wider) for other, wider in found)
    return A_PART if hidden else TOO_MANY


def _sure(like: Ints) -> Floats:
    return np.ones(len(like), dtype=np.float32)
