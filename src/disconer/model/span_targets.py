"""The span head's targets as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from disconer.model.scorers import Spans
from disconer.span.targets import SpanTargets


@dataclass(frozen=True, slots=True)
class SpanTargetBatch:
    """Gold fragments and their succession. G fragments, S succession pairs.

    spans: the gold fragments, sorted by row, start, end.
    labels: label numbers of each; a fragment with several labels has several.  Shape: (G, labels), multi-hot
    succession: pairs of positions in `spans`.  Shape: (2, S)
    """

    spans: Spans
    labels: Tensor
    succession: Tensor

    def to(self, device: torch.device) -> SpanTargetBatch:
        row, start, end = (part.to(device) for part in (self.spans.row, self.spans.start, self.spans.end))
        return SpanTargetBatch(Spans(row, start, end), self.labels.to(device), self.succession.to(device))


def span_target_batch(targets: Sequence[SpanTargets], label_numbers: Mapping[str, int]) -> SpanTargetBatch:
    """Stack the targets of windows."""
    rows: list[tuple[int, int, int]] = []
    hot: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    for row, target in enumerate(targets):
        origin = len(rows)
        for number, ((start, end), labels) in enumerate(zip(target.spans, target.labels, strict=True)):
            rows.append((row, start, end - 1))
            hot += [(origin + number, label_numbers[label]) for label in labels]
        pairs += [(origin + a, origin + b) for a, b in sorted(target.succession)]
    spans = torch.tensor(rows, dtype=torch.long).reshape(-1, 3).unbind(1)
    labelled = torch.zeros(len(rows), len(label_numbers), dtype=torch.bool)
    where = torch.tensor(hot, dtype=torch.long).reshape(-1, 2)
    labelled[where[:, 0], where[:, 1]] = True
    return SpanTargetBatch(Spans(*spans), labelled, torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T)
