"""Prediction of the transition head: all windows of a batch advance together, an action at a time.

Greedy, or with a beam: of each window, the likeliest sequences of actions go on together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from disconer.nn.heads.beam import Step, best_paths, best_steps
from disconer.nn.heads.transition.actions import FIRST_COMPLETE, OUT, SHIFT, State, ranges_of
from disconer.nn.heads.transition.network import LstmState, NextAction, PastActions, StackNodes
from disconer.nn.heads.transition.targets import NONE, SEEN, following
from disconer.nn.windows import Found


class Entity(NamedTuple):
    """A completed span, and the log probability of the actions that made it."""

    label: int
    span: int
    score: float


class Path(NamedTuple):
    """A sequence of actions for a window, and where it has come to.

    row: the window.
    last: the last action.
    score: the log probability of all actions.
    state: its stack as spans; `nodes` is the same stack as numbers of nodes, 0 being the empty stack.
    scores: of the spans in the stack, the log probabilities of the actions that made them.
    past: where the state of its actions is.
    """

    row: int
    last: int
    score: float = 0.0
    state: State = State()
    nodes: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    found: tuple[Entity, ...] = ()
    past: int = 0

    def after(self, action: int, score: float, past: int, new: int) -> Path:
        """new: the number of the node that the action makes."""
        found = self.found
        if action >= FIRST_COMPLETE:
            found = (*found, Entity(action - FIRST_COMPLETE, self.state.stack[-1], self.scores[-1] + score))
        made = score if action == SHIFT else sum(self.scores[-2:]) + score
        return Path(
            self.row,
            action,
            self.score + score,
            self.state.after(action),
            following(self.nodes, action, new),
            following(self.scores, action, made),
            found,
            past,
        )

    @property
    def seen(self) -> list[int]:
        """The nodes on top of the stack, the topmost first."""
        return [*self.nodes[: -SEEN - 1 : -1], 0, 0, 0][:SEEN]


# From paths and the next word of each, (R, 1), NONE at the end, to the hints of `NextAction`, (R, 1, hidden).
Hints = Callable[[Sequence[Path], Tensor], Tensor]


class Decoder:
    """Finds the entities of a batch.

    words:  Shape: (B, N, d)
    word_mask:  Shape: (B, N)
    """

    def __init__(
        self,
        nodes: StackNodes,
        past: PastActions,
        scorer: NextAction,
        *,
        words: Tensor,
        word_mask: Tensor,
        beam: int,
        hints: Hints | None = None,
    ) -> None:
        self.stack, self.past, self.scorer, self.hints = nodes, past, scorer, hints
        self.words, self.word_mask, self.beam = words, word_mask, beam
        self.nodes = nodes.none().to(words.dtype)  # all nodes so far; there is room for more
        self.n_nodes = 1

    def __call__(self, lengths: Sequence[int]) -> list[list[Entity]]:
        """The entities of each window, in the order in which they were completed."""
        paths = [Path(row, self.past.start) for row in range(len(lengths))]
        states: LstmState | None = None
        while unfinished := [path for path in paths if path.state != State(lengths[path.row])]:
            scores, actions, states = self._likeliest(unfinished, lengths, states)
            finished = [path for path in paths if path.state == State(lengths[path.row])]
            paths = self._go_on(finished, list(best_steps(unfinished, scores, actions, self.beam)))
        best = {path.row: path for path in sorted(paths, key=lambda path: path.score)}
        return [list(best[row].found) for row in range(len(lengths))]

    def _likeliest(
        self, paths: Sequence[Path], lengths: Sequence[int], states: LstmState | None
    ) -> tuple[list[list[float]], list[list[int]], LstmState]:
        """Of each path, the log probabilities of its likeliest next actions, these, and the state of its actions."""
        row, last, origin = self._tensor([[path.row, path.last, path.past] for path in paths]).unbind(1)
        earlier = None if states is None else (states[0][:, origin], states[1][:, origin])
        so_far, states = self.past(last[:, None], earlier)
        seen = self.stack.stack_state(self.nodes[self._tensor([path.seen for path in paths])])  # (R, 3, s)
        fronts = [path.state.front if path.state.front < lengths[path.row] else NONE for path in paths]
        front = self._tensor(fronts)[:, None]
        hints = None if self.hints is None else self.hints(paths, front)
        valid = self._tensor([path.state.valid(lengths[path.row]) for path in paths]).bool()
        everywhere = len(paths) == len(self.words) and self.beam == 1  # each window has its path, in their order
        words, mask = (self.words, self.word_mask) if everywhere else (self.words[row], self.word_mask[row])
        scores = self.scorer(words, mask, seen[:, None], front, so_far, valid[:, None], hints)[:, 0]
        best, actions = scores.topk(min(self.beam, scores.shape[1]), -1)
        return best.tolist(), actions.tolist(), states

    def _go_on(self, finished: Sequence[Path], steps: Sequence[Step[Path]]) -> list[Path]:
        """The paths after some steps and those that were finished: of each window, the best."""
        new = self._make([(step.path, step.number) for step in steps])
        paths = [
            step.path.after(step.number, step.score, step.place, node) for step, node in zip(steps, new, strict=True)
        ]
        return best_paths([*finished, *paths], self.beam)

    def _make(self, steps: Sequence[tuple[Path, int]]) -> list[int]:
        """Make the nodes of some actions; returns the number of each, any where an action makes none."""
        shifts = [place for place, (_, action) in enumerate(steps) if action == SHIFT]
        joins = [place for place, (_, action) in enumerate(steps) if OUT < action < FIRST_COMPLETE]
        made = dict(zip([*shifts, *joins], range(self.n_nodes, self.n_nodes + len(steps)), strict=False))
        numbers = [made.get(place, 0) for place in range(len(steps))]
        if not made:
            return numbers
        spans = []
        if shifts:
            row, front = self._tensor([[steps[n][0].row, steps[n][0].state.front] for n in shifts]).unbind(1)
            spans.append(self.stack.spans_of_words(self.words[row, front]))
        if joins:
            left, right = self.nodes[self._tensor([steps[n][0].nodes[-2:] for n in joins])].unbind(1)
            spans.append(self.stack.spans_of_two(left, right))
        below = [(0, 0, *following(steps[n][0].nodes, steps[n][1], 0))[-2] for n in made]
        self._keep(self.stack(torch.cat(spans), self.nodes[self._tensor(below)]))
        return numbers

    def _keep(self, nodes: Tensor) -> None:
        if self.n_nodes + len(nodes) > len(self.nodes):  # twice the room, so that it rarely happens
            room = self.nodes.new_zeros(2 * (self.n_nodes + len(nodes)), self.nodes.shape[1])
            room[: self.n_nodes] = self.nodes[: self.n_nodes]
            self.nodes = room
        self.nodes[self.n_nodes : self.n_nodes + len(nodes)] = nodes
        self.n_nodes += len(nodes)

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self.words.device)


def found_entities(entities: Sequence[Entity], labels: Sequence[str]) -> list[Found]:
    """Each entity once, with its best score."""
    best: dict[tuple[int, int], float] = {}
    for label, span, score in entities:
        best[label, span] = max(score, best.get((label, span), -np.inf))
    return [Found(labels[label], ranges_of(span), float(np.exp(score))) for (label, span), score in best.items()]
