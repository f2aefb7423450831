"""What the transition head learns from a window: its actions, and which spans each of them sees. No torch here.

Training knows all actions beforehand. A span that an action pushes is a *node*, named by the step that made it. Nodes
depend on others, the two that they join and the one below them in the stack, and on nothing else. So they are computed
in the order of their *levels*, all nodes of a level of a batch together: a level for a few actions, not for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disconer.nn.heads.transition.actions import FIRST_COMPLETE, OUT, SHIFT, Item, State, reduced
from disconer.nn.reader import Bools, Ints

NONE = -1  # in place of a node, or a word
SEEN = 3  # spans on top of the stack that an action sees


@dataclass(frozen=True, slots=True)
class ActionTargets:
    """The actions of a window, T of them, and M nodes.

    actions:  Shape: (T,)
    front: the next word; NONE at the end of the window.  Shape: (T,)
    seen: the nodes on top of the stack before each action, the topmost first; NONE if there are fewer.  Shape: (T, 3)
    valid: the groups of actions that were possible.  Shape: (T, 3)
    taught: the actions that count in the loss.  Shape: (T,)
    nodes: step, level, word (NONE if it joins two), left and right node (NONE if it is a word), node below.
        Shape: (M, 6)
    """

    actions: Ints
    front: Ints
    seen: Ints
    valid: Bools
    taught: Bools
    nodes: Ints


def action_targets(actions: Sequence[int], taught_words: Bools) -> ActionTargets:
    """taught_words: of a window, those whose actions count. An action belongs to the last word read.  Shape: (n,)"""
    n_words = len(taught_words)
    state = State()
    stack: tuple[int, ...] = ()  # the same stack as that of the state, as nodes
    levels: dict[int, int] = {NONE: -1}
    nodes, front, seen, valid, taught = [], [], [], [], []
    for step, action in enumerate(actions):
        front.append(state.front if state.front < n_words else NONE)
        seen.append([*stack[: -SEEN - 1 : -1], NONE, NONE, NONE][:SEEN])
        valid.append(state.valid(n_words))
        taught.append(taught_words[state.front if action in (SHIFT, OUT) else state.front - 1])
        before, stack = stack, following(stack, action, step)
        if stack and stack[-1] == step:
            word, left, right = (state.front, NONE, NONE) if action == SHIFT else (NONE, *before[-2:])
            below = stack[-2] if len(stack) > 1 else NONE
            levels[step] = 1 + max(levels[left], levels[right], levels[below])
            nodes.append((step, levels[step], word, left, right, below))
        state = state.after(action)
    return ActionTargets(
        np.array(actions, dtype=np.int64),
        np.array(front, dtype=np.int64),
        np.array(seen, dtype=np.int64).reshape(-1, SEEN),
        np.array(valid, dtype=bool).reshape(-1, 3),
        np.array(taught, dtype=bool),
        np.array(nodes, dtype=np.int64).reshape(-1, 6),
    )


def following(stack: tuple[Item, ...], action: int, new: Item) -> tuple[Item, ...]:
    """A stack of anything after an action; `new` is what the action pushes, if it pushes anything.

    >>> following((3, 5), SHIFT, 7), following((3, 5), OUT, 7), following((3, 5), FIRST_COMPLETE, 7)
    ((3, 5, 7), (3, 5), (3,))
    """
    if action == SHIFT:
        return (*stack, new)
    if action == OUT:
        return stack
    return stack[:-1] if action >= FIRST_COMPLETE else reduced(stack, action, new)


class Level(NamedTuple):
    """Nodes of a level: first words, up to `joined`, then those that join two others.

    Numbers of nodes: 0 is the empty stack, the others are in the order of levels.
    """

    first: int
    joined: int
    end: int


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """The nodes of a batch in the order of their levels; numbers as in `Level`.

    numbers: of the node of each row and step, 0 if there is none; a last column of 0.  Shape: (B, T + 1)
    row, word, left, right, below:  Shape: (1 + M,)
    """

    levels: list[Level]
    numbers: Ints
    row: Ints
    word: Ints
    left: Ints
    right: Ints
    below: Ints


def order_nodes(targets: Sequence[ActionTargets]) -> NodeOrder:
    row = np.repeat(np.arange(len(targets)), [len(one.nodes) for one in targets])
    step, level, word, left, right, below = np.concatenate([one.nodes for one in targets]).T
    order = np.lexsort((step, row, word == NONE, level))
    numbers = np.zeros((len(targets), max(len(one.actions) for one in targets) + 1), dtype=np.int64)
    numbers[row[order], step[order]] = np.arange(1, len(order) + 1)
    n_levels = level.max(initial=-1) + 1
    n_words = np.bincount(level[word != NONE], minlength=n_levels)
    n_nodes = np.bincount(level, minlength=n_levels)
    ends = np.cumsum(n_nodes) + 1
    firsts = ends - n_nodes
    columns = (row, word, numbers[row, left], numbers[row, right], numbers[row, below])
    return NodeOrder(
        [Level(*one) for one in zip(firsts.tolist(), (firsts + n_words).tolist(), ends.tolist(), strict=True)],
        numbers,
        *(np.concatenate([[0], column[order]]) for column in columns),
    )
