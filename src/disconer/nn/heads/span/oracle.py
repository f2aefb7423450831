"""What a faultless span head finds, and why it misses the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from disconer.evaluate.ceiling import Reach, WordEntity
from disconer.nn.heads.span.reading import MOST_ENTITIES
from disconer.nn.heads.span.targets import span_targets
from disconer.text.alignment import TokenEntity
from disconer.text.fragment_graph import assemble

# Why an entity is lost, whatever the width limit.
WITHIN = "has only fragments that a larger entity has, too"
JOINED = "has fragments that an entity of another label combines with others"  # succession is of no label
MERGED = "is part of a clique that is not an entity"
SPLIT = "is discontinuous, and pairs of fragments are not scored (head.relations.enabled)"


def too_wide(max_width: int) -> str:
    return f"has a fragment of more than {max_width} words (head.max_width)"


def span_reach(entities: Sequence[TokenEntity], max_width: int | None, *, relations: bool = True) -> Reach:
    """What comes back of the entities of a sentence; every span may have all its labels.

    relations: whether pairs of fragments are scored.
    """
    keys = tuple(dict.fromkeys(entity.key for entity in entities))
    if max_width is not None and all(_width(key) <= max_width for key in keys):
        max_width = None  # so that settings under which a sentence is the same share one answer
    return _reach(keys, max_width, relations)


@lru_cache(maxsize=64)
def _reach(keys: tuple[WordEntity, ...], max_width: int | None, relations: bool) -> Reach:
    targets = span_targets(keys, max_width)
    succession = targets.succession if relations else ()
    found = frozenset(
        (entity.label, entity.ranges)
        for entity in assemble(targets.spans, targets.labels, succession, most=MOST_ENTITIES)
    )
    lost = {}
    for key in keys:
        if key not in found:
            if max_width is not None and _width(key) > max_width:
                lost[key] = too_wide(max_width)
            elif not relations and len(key[1]) > 1:
                lost[key] = SPLIT
            else:
                lost[key] = _why_lost(key, keys)
    return Reach(found, lost)


def _width(key: WordEntity) -> int:
    return max(end - first for first, end in key[1])


def _why_lost(key: WordEntity, keys: Iterable[WordEntity]) -> str:
    label, ranges = key
    larger = {other for other, others in keys if set(ranges) < set(others)}
    return WITHIN if label in larger else JOINED if larger else MERGED
