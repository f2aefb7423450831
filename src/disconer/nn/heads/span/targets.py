"""What the span head learns from the entities of a sentence, and what it then finds at best (the oracle).

No torch but for batches: `disconer check` needs none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from disconer.evaluate.check import Reach, WordEntity
from disconer.nn.arrays import columns
from disconer.nn.heads.span.reading import MOST_ENTITIES, SpanPlaces
from disconer.nn.reader import Ints
from disconer.text.alignment import Range, TokenEntity
from disconer.text.fragment_graph import assemble

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Pair = tuple[int, int]  # positions in `SpanTargets.spans`, the smaller first


@dataclass(frozen=True, slots=True)
class SpanTargets:
    """The fragments of a sentence's entities and how they relate.

    spans: the token ranges that are a fragment of some entity, sorted.
    labels: of each span, the labels of the entities that it is a fragment of (one span may have several).
    succession: pairs of spans that are fragments of one entity.
    """

    spans: tuple[Range, ...]
    labels: tuple[tuple[str, ...], ...]
    succession: frozenset[Pair]


def span_targets(entities: Iterable[WordEntity], max_width: int | None = None) -> SpanTargets:
    """The targets of one sentence; fragments wider than `max_width` tokens are left out, as the model cannot find them.

    entities: label and token ranges of each.
    """
    entities = list(entities)
    labels: dict[Range, set[str]] = {}
    for label, ranges in entities:
        for span in ranges:
            if max_width is None or span[1] - span[0] <= max_width:
                labels.setdefault(span, set()).add(label)
    spans = tuple(sorted(labels))
    position = {span: number for number, span in enumerate(spans)}
    succession = frozenset(
        pair
        for _, ranges in entities
        for pair in combinations([position[span] for span in ranges if span in position], 2)
    )
    return SpanTargets(spans, tuple(tuple(sorted(labels[span])) for span in spans), succession)


class Relation(IntEnum):
    """The classes of fragment pairs."""

    OTHER = 0
    SUCCESSION = 1
    OVERLAPPING = 2


@dataclass(frozen=True, slots=True)
class SpanTargetBatch:
    """Gold fragments and their succession. G fragments, S succession pairs.

    spans: the gold fragments.
    succession: pairs of positions in `spans`.  Shape: (2, S)
    place: row, start and width less one of each.  Shape: (3, G)
    labels: of each; a fragment with several labels has several.  Shape: (G, labels), multi-hot

    Arrays stay on the CPU, where candidates are compared with them; tensors go to the device.
    """

    spans: SpanPlaces
    succession: Ints
    place: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> SpanTargetBatch:
        from disconer.nn.devices import moved

        place, labels = moved(self.place, device), moved(self.labels, device)
        return replace(self, place=place, labels=labels)


def span_target_batch(targets: Sequence[SpanTargets], label_numbers: Mapping[str, int]) -> SpanTargetBatch:
    """Stack the targets of windows."""
    import torch

    rows: list[tuple[int, int, int]] = []
    hot: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    for row, target in enumerate(targets):
        origin = len(rows)
        for number, ((start, end), labels) in enumerate(zip(target.spans, target.labels, strict=True)):
            rows.append((row, start, end))
            hot += [(origin + number, label_numbers[label]) for label in labels]
        pairs += [(origin + a, origin + b) for a, b in sorted(target.succession)]
    spans = SpanPlaces(*columns(rows, 3))
    labelled = np.zeros((len(rows), len(label_numbers)), dtype=bool)
    labelled[*columns(hot, 2)] = True
    place = np.stack([spans.row, spans.start, spans.end - spans.start - 1])
    return SpanTargetBatch(spans, columns(pairs, 2), torch.from_numpy(place), torch.from_numpy(labelled))


def relation_classes(
    spans: SpanPlaces, pairs: Ints, targets: SpanTargetBatch, n_words: int, *, overlapping: bool
) -> Ints:
    """The gold relation of each pair of candidates.  Shape: (pairs,)

    n_words: of the longest window.
    overlapping: whether gold fragments that share words are a class of their own.
    """
    keys, gold_keys = spans.keys(n_words), targets.spans.keys(n_words)
    number = np.full(len(keys), -1)  # the gold fragment that each candidate is, if any
    is_gold = np.isin(keys, gold_keys)
    number[is_gold] = np.searchsorted(gold_keys, keys[is_gold])
    first, second = pairs
    both_gold = is_gold[first] & is_gold[second]
    classes = np.full(len(first), Relation.OTHER, dtype=np.int64)
    if overlapping:
        overlap = spans.start[second] < spans.end[first]  # sorted: the second never starts first
        classes[overlap & both_gold] = Relation.OVERLAPPING
    n_gold = len(gold_keys)
    pair_keys = number[first] * n_gold + number[second]
    succession = np.isin(pair_keys, targets.succession[0] * n_gold + targets.succession[1])
    classes[succession & both_gold & (classes != Relation.OVERLAPPING)] = Relation.SUCCESSION
    return classes


# Why an entity is lost, whatever the width limit.
WITHIN = "has only fragments that a larger entity has, too"
JOINED = "has fragments that an entity of another label combines with others"  # succession has no label
MERGED = "is part of a clique that is not an entity"
SPLIT = "is discontinuous, and pairs of fragments are not scored (head.relations.enabled)"


def too_wide(max_width: int) -> str:
    return f"has a fragment of more than {max_width} words (head.max_width)"


def span_reach(entities: Sequence[TokenEntity], max_width: int | None, *, relations: bool = True) -> Reach:
    """What can be found of the entities of a sentence; every span may have all its labels.

    relations: whether pairs of fragments are scored.
    """
    keys = tuple(dict.fromkeys(entity.key for entity in entities))
    if max_width is not None and all(_width(key) <= max_width for key in keys):
        max_width = None  # so that all settings that do not matter for a sentence share one cached answer
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
