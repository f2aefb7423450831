"""The combined head: the losses of both heads are added, and actions are chosen with the evidence of spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from disconer.nn.devices import WordBatch
from disconer.nn.heads.combined.evidence import (
    EvidenceLayer,
    SetBatch,
    SpanEvidence,
    WordSets,
    asked_about,
    evidence_names,
    together,
    word_sets,
)
from disconer.nn.heads.span.head import SpanHead
from disconer.nn.heads.span.targets import SpanTargetBatch, SpanTargets
from disconer.nn.heads.transition.actions import State
from disconer.nn.heads.transition.decoding import Path
from disconer.nn.heads.transition.head import ActionBatch, TransitionHead
from disconer.nn.heads.transition.head import Launched as LaunchedActions
from disconer.nn.heads.transition.targets import ActionTargets
from disconer.nn.interfaces import AxisNames
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity


class CombinedTargets(NamedTuple):
    """Of a window, what both heads learn, and what its actions ask about."""

    spans: SpanTargets
    actions: ActionTargets
    sets: WordSets


@dataclass(frozen=True, slots=True)
class CombinedBatch:
    """The same of the windows of a batch."""

    spans: SpanTargetBatch
    actions: ActionBatch
    sets: SetBatch

    def to(self, device: torch.device) -> CombinedBatch:
        return CombinedBatch(self.spans.to(device), self.actions.to(device), self.sets.to(device))


class Launched(NamedTuple):
    """What both heads launched."""

    actions: LaunchedActions
    evidence: SpanEvidence


class CombinedHead(nn.Module):
    """Entities by actions, with the evidence of spans. See `CombinedSettings`."""

    def __init__(self, *, spans: SpanHead, transitions: TransitionHead, evidence: EvidenceLayer) -> None:
        super().__init__()
        self.spans, self.transitions, self.evidence = spans, transitions, evidence

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        actions = self.transitions.stages
        return self.spans.stages | {"stack": actions.pop("spans"), "evidence": self.evidence} | actions

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`."""
        parts: dict[str, SpanHead | TransitionHead] = {"spans": self.spans, "transitions": self.transitions}
        named = {f"{part}.{name}": axes for part, head in parts.items() for name, axes in head.axis_names().items()}
        return named | {"evidence.linear.weight": {1: evidence_names(self.spans.labels)}}

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> CombinedTargets:
        """See `Head`."""
        actions = self.transitions.window_targets(window, entities)
        state, asked = State(), []
        for action in actions.actions.tolist():
            asked.append(asked_about(state, len(window)))
            state = state.after(action)
        sets = word_sets([0] * len(asked), asked)
        return CombinedTargets(self.spans.window_targets(window, entities), actions, sets)

    def batch_targets(self, targets: Sequence[CombinedTargets]) -> CombinedBatch:
        """See `Head`."""
        spans, actions, sets = zip(*targets, strict=True)
        return CombinedBatch(
            self.spans.batch_targets(spans), self.transitions.batch_targets(actions), _set_batch(together(sets))
        )

    def loss(self, words: Tensor, batch: WordBatch, targets: CombinedBatch) -> Tensor:
        """See `Head`: the sum of both losses."""
        scores, exists = self.spans.span_scores(words, batch)
        of_spans = self.spans.loss_of_scores(scores, exists, words, batch, targets.spans)
        row = torch.arange(len(words), device=words.device)[:, None]
        evidence = SpanEvidence(self.spans, words, scores, exists)(targets.sets, row, targets.actions.front)
        return of_spans + self.transitions.loss(words, batch, targets.actions, self.evidence(evidence))

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> Launched:
        """See `Head`."""
        evidence = SpanEvidence(self.spans, words, *self.spans.span_scores(words, batch))
        return Launched(self.transitions.launch(words, batch), evidence)

    def collect(self, launched: Launched) -> list[list[Found]]:
        """See `Head`."""
        actions, evidence = launched
        return self.transitions.collect(actions, partial(self._hints, evidence, actions.lengths))

    def _hints(self, evidence: SpanEvidence, lengths: Sequence[int], paths: Sequence[Path], front: Tensor) -> Tensor:
        """See `Hints`."""
        rows = [path.row for path in paths]
        made = word_sets(rows, [asked_about(path.state, lengths[path.row]) for path in paths])
        sets = _set_batch(made._replace(asked=made.asked[:, None])).to(front.device)
        hints: Tensor = self.evidence(evidence(sets, torch.tensor(rows, device=front.device)[:, None], front))
        return hints


def _set_batch(sets: WordSets) -> SetBatch:
    asked, fragments, pairs = (torch.from_numpy(one) for one in sets[:3])
    return SetBatch(asked, fragments, pairs, sets.n_sets)
