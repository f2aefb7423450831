"""What a faultless grid head finds, and why it misses the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disconer.evaluate.check import Reach
from disconer.nn.heads.grid.reading import Envelopes, Steps, read_entities
from disconer.nn.heads.grid.settings import Decoding
from disconer.nn.heads.grid.targets import grid_targets
from disconer.nn.reader import Floats, Ints
from disconer.text.alignment import TokenEntity

TOO_MANY = "is one of too many entities between the same two words"


def too_far(reach: int) -> str:
    return f"has more than {reach} words from its first to its last (head.reach)"


def grid_reach(entities: Sequence[TokenEntity], reach: int | None, decoding: Decoding) -> Reach:
    """What comes back of the entities of a sentence."""
    keys = tuple(dict.fromkeys(entity.key for entity in entities))
    labels = sorted({label for label, _ in keys})
    targets = grid_targets(keys, {label: number for number, label in enumerate(labels)}, reach)
    first, gap, label, gapped = targets.entities
    word, step = targets.links
    envelopes = Envelopes(
        np.zeros_like(first), first, first + gap, label, _sure(first), _floats(1 - gapped), _floats(gapped)
    )
    steps = Steps(np.zeros_like(word), word, word + step, _sure(word))
    (read,) = read_entities(envelopes, steps, labels, n_rows=1, threshold=0.5, decoding=decoding)
    found = frozenset((entity.label, entity.ranges) for entity in read)
    lost = {
        key: too_far(reach) if reach is not None and key[1][-1][1] - key[1][0][0] > reach else TOO_MANY
        for key in keys
        if key not in found
    }
    return Reach(found, lost)


def _sure(like: Ints) -> Floats:
    return np.ones(len(like), dtype=np.float32)


def _floats(values: Ints) -> Floats:
    return values.astype(np.float32)
