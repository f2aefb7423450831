"""The span head's targets as arrays and tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import torch
from torch import Tensor

from disconer.nn.heads.span.reading import SpanPlaces
from disconer.nn.heads.span.targets import SpanTargets
from disconer.nn.reader import Ints


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
        place, labels = self.place.to(device, non_blocking=True), self.labels.to(device, non_blocking=True)
        return replace(self, place=place, labels=labels)


def span_target_batch(targets: Sequence[SpanTargets], label_numbers: Mapping[str, int]) -> SpanTargetBatch:
    """Stack the targets of windows."""
    rows: list[tuple[int, int, int]] = []
    hot: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    for row, target in enumerate(targets):
        origin = len(rows)
        for number, ((start, end), labels) in enumerate(zip(target.spans, target.labels, strict=True)):
            rows.append((row, start, end))
            hot += [(origin + number, label_numbers[label]) for label in labels]
        pairs += [(origin + a, origin + b) for a, b in sorted(target.succession)]
    spans = SpanPlaces(*_columns(rows, 3))
    labelled = np.zeros((len(rows), len(label_numbers)), dtype=bool)
    labelled[*_columns(hot, 2)] = True
    place = np.stack([spans.row, spans.start, spans.end - spans.start - 1])
    return SpanTargetBatch(spans, _columns(pairs, 2), torch.from_numpy(place), torch.from_numpy(labelled))


def _columns(rows: Sequence[tuple[int, ...]], n_columns: int) -> Ints:
    """Shape: (n_columns, rows)"""
    return np.array(rows, dtype=np.int64).reshape(-1, n_columns).T


def relation_classes(
    spans: SpanPlaces, pairs: Ints, targets: SpanTargetBatch, n_words: int, *, overlapping: bool
) -> Ints:
    """The gold relation of each pair of candidates.  Shape: (pairs,)

    n_words: of the longest window.
    overlapping: whether gold fragments that share words are a class of their own.
    """
    keys, gold_keys = spans.keys(n_words), targets.spans.keys(n_words)
    number = np.full(len(keys), -1)  # of each candidate, the gold fragment that it is
    is_gold = np.isin(keys, gold_keys)
    number[is_gold] = np.searchsorted(gold_keys, keys[is_gold])
    first, second = pairs
    both_gold = is_gold[first] & is_gold[second]
    classes = np.full(len(first), Relation.OTHER, dtype=np.int64)
    if overlapping:
        share = spans.start[second] < spans.end[first]  # sorted: the second never starts first
        classes[share & both_gold] = Relation.OVERLAPPING
    n_gold = len(gold_keys)
    pair_keys = number[first] * n_gold + number[second]
    succession = np.isin(pair_keys, targets.succession[0] * n_gold + targets.succession[1])
    classes[succession & both_gold & (classes != Relation.OVERLAPPING)] = Relation.SUCCESSION
    return classes
