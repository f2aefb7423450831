"""The transition head: targets, loss and prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from disconer.nn.devices import WordBatch, moved
from disconer.nn.heads.transition.actions import action_names
from disconer.nn.heads.transition.decoding import Decoder, Hints, found_entities
from disconer.nn.heads.transition.network import NextAction, PastActions, StackNodes
from disconer.nn.heads.transition.oracle import oracle
from disconer.nn.heads.transition.targets import ActionTargets, Level, action_targets, order_nodes
from disconer.nn.interfaces import AxisNames
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """The targets of the windows of a batch: as in `ActionTargets`, padded, and the nodes as in `NodeOrder`.

    actions, front, taught:  Shape: (B, T)
    seen: numbers of nodes.  Shape: (B, T, 3)
    valid:  Shape: (B, T, 3)
    nodes: row, word, left, right and below of each.  Shape: (5, 1 + M)
    levels: stay on the CPU.
    """

    actions: Tensor
    front: Tensor
    taught: Tensor
    seen: Tensor
    valid: Tensor
    nodes: Tensor
    levels: list[Level]

    def to(self, device: torch.device) -> ActionBatch:
        names = ("actions", "front", "taught", "seen", "valid", "nodes")
        there: dict[str, Any] = {name: moved(getattr(self, name), device) for name in names}
        return replace(self, **there)


class Launched(NamedTuple):
    """The words of a batch, on its device; lengths: of its windows, on the CPU."""

    words: Tensor
    word_mask: Tensor
    lengths: list[int]


class TransitionHead(nn.Module):
    """Entities by actions. See `TransitionSettings`."""

    def __init__(
        self, *, labels: Sequence[str], nodes: StackNodes, past: PastActions, scorer: NextAction, beam: int
    ) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.label_numbers = {label: number for number, label in enumerate(self.labels)}
        self.nodes, self.past, self.scorer, self.beam = nodes, past, scorer, beam

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"spans": self.nodes, "past": self.past, "actions": self.scorer}

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`."""
        actions = action_names(self.labels)
        by_action = {name: {0: actions} for name in ("scorer.output.weight", "scorer.output.bias")}
        return by_action | {"past.vectors.weight": {0: (*actions, "start")}}

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> ActionTargets:
        """See `Head`."""
        known = [entity for entity in entities if entity.label in self.label_numbers]
        held = (entity.key for entity in window.within(known))
        actions = oracle(held, len(window), self.label_numbers).actions
        return action_targets(actions, window.taught(known))

    def batch_targets(self, targets: Sequence[ActionTargets]) -> ActionBatch:
        """See `Head`."""
        order = order_nodes(targets)
        seen = [order.numbers[row][one.seen] for row, one in enumerate(targets)]  # NONE finds the last column, 0
        columns = np.stack([order.row, order.word, order.left, order.right, order.below])
        return ActionBatch(
            actions=_padded([one.actions for one in targets]),
            front=_padded([one.front for one in targets]),
            taught=_padded([one.taught for one in targets]),
            seen=_padded(seen),
            valid=_padded([one.valid for one in targets]),
            nodes=torch.from_numpy(columns),
            levels=order.levels,
        )

    def loss(self, words: Tensor, batch: WordBatch, targets: ActionBatch, hints: Tensor | None = None) -> Tensor:
        """See `Head`: minus the log probabilities of the actions. hints: see `NextAction`."""
        scores = self.log_probabilities(words, batch, targets, hints)
        return -scores.where(targets.taught, 0).sum()

    def log_probabilities(
        self, words: Tensor, batch: WordBatch, targets: ActionBatch, hints: Tensor | None = None
    ) -> Tensor:
        """Of each action, after those before it; 0 or less for padding.  Shape: (B, T)"""
        row, word, left, right, below = targets.nodes
        nodes = self.nodes.in_order(targets.levels, words[row, word], left, right, below)  # (1 + M, 4s)
        stack = self.nodes.stack_state(nodes)[targets.seen]  # (B, T, 3, s)
        start = torch.full_like(targets.actions[:, :1], self.past.start)
        past, _ = self.past(torch.cat([start, targets.actions[:, :-1]], 1))  # (B, T, a)
        scores = self.scorer(words, batch.word_mask, stack, targets.front, past, targets.valid, hints)
        chosen: Tensor = scores.gather(-1, targets.actions[..., None])[..., 0]
        return chosen

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> Launched:
        """See `Head`. Actions follow from one another, so that all work on them waits for `collect`."""
        return Launched(words, batch.word_mask, batch.lengths)

    def collect(self, launched: Launched, hints: Hints | None = None) -> list[list[Found]]:
        """See `Head`. The score of an entity is the product of the probabilities of the actions that made it."""
        words, word_mask, lengths = launched
        parts = (self.nodes, self.past, self.scorer)
        decoder = Decoder(*parts, words=words, word_mask=word_mask, beam=self.beam, hints=hints)
        return [found_entities(entities, self.labels) for entities in decoder(lengths)]


def _padded(arrays: Sequence[np.ndarray]) -> Tensor:
    return pad_sequence([torch.from_numpy(one) for one in arrays], batch_first=True)


def make_head(
    *,
    labels: Sequence[str],
    word_size: int,
    stack_size: int,
    past_size: int,
    hidden: int,
    dropout: float,
    beam: int,
) -> TransitionHead:
    n_actions = len(action_names(labels))
    return TransitionHead(
        labels=labels,
        nodes=StackNodes(word_size=word_size, size=stack_size),
        past=PastActions(n_actions=n_actions, size=past_size),
        scorer=NextAction(
            word_size=word_size,
            stack_size=stack_size,
            past_size=past_size,
            hidden=hidden,
            n_actions=n_actions,
            dropout=dropout,
        ),
        beam=beam,
    )
