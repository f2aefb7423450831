"""The actions, the states that they lead through, and which are valid when. No torch here.

A state is a stack of spans and the words that are still to be read, the *buffer*. A *span* is any set of words, held
as the bits of a number. The actions:

SHIFT         pushes the next word as a span: it belongs to some entity.
OUT           skips the next word: it belongs to none.
REDUCE        joins the two spans on top into one.
LEFT-REDUCE   does so and keeps the left one, below the new span: it belongs to further entities.
RIGHT-REDUCE  does so and keeps the right one.
COMPLETE-y    pops the span on top: it is an entity of label y.

The end is reached when stack and buffer are empty. Spans that share words are never joined, so a REDUCE of any kind
cannot follow a LEFT- or RIGHT-REDUCE directly. A sentence of n words takes at most 4n actions: n SHIFT or OUT; as many
REDUCE and COMPLETE as SHIFT, since each takes one span off the stack; and after each of these at most one LEFT- or
RIGHT-REDUCE.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from disconer.text.alignment import Range

SHIFT, OUT, REDUCE, LEFT_REDUCE, RIGHT_REDUCE, FIRST_COMPLETE = range(6)  # COMPLETE-y: FIRST_COMPLETE + number of y
NAMES = ("SHIFT", "OUT", "REDUCE", "LEFT-REDUCE", "RIGHT-REDUCE")
READING, JOINING, COMPLETING = range(3)  # groups of actions: each is valid or invalid as a whole
GROUPS = (READING, READING, JOINING, JOINING, JOINING)  # of the actions before FIRST_COMPLETE

Item = TypeVar("Item")
Span = int
Entity = tuple[int, Span]  # the number of its label, and its words


def action_names(labels: Sequence[str]) -> tuple[str, ...]:
    """All actions, by number.

    >>> action_names(["Drug"])[-2:]
    ('RIGHT-REDUCE', 'COMPLETE-Drug')
    """
    return *NAMES, *(f"COMPLETE-{label}" for label in labels)


def span_of(ranges: Iterable[Range]) -> Span:
    """
    >>> bin(span_of([(0, 2), (3, 4)]))
    '0b1011'
    """
    return sum((1 << end) - (1 << first) for first, end in ranges)


def ranges_of(span: Span) -> tuple[Range, ...]:
    """
    >>> ranges_of(0b1011)
    ((0, 2), (3, 4))
    """
    ranges: list[Range] = []
    first = 0
    while span:
        gap = (span & -span).bit_length() - 1
        span >>= gap
        width = (~span & (span + 1)).bit_length() - 1
        ranges.append((first + gap, first + gap + width))
        span >>= width
        first += gap + width
    return tuple(ranges)


class State(NamedTuple):
    """What has been read and built.

    front: the next word.
    stack: its top is last.
    """

    front: int = 0
    stack: tuple[Span, ...] = ()

    def valid(self, n_words: int) -> tuple[bool, bool, bool]:
        """Which groups of actions may come next: READING, JOINING, COMPLETING. None at the end."""
        joinable = len(self.stack) > 1 and not self.stack[-1] & self.stack[-2]
        return self.front < n_words, joinable, bool(self.stack)

    def after(self, action: int) -> State:
        """The state that a valid action leads to."""
        if action == SHIFT:
            return State(self.front + 1, (*self.stack, 1 << self.front))
        if action == OUT:
            return State(self.front + 1, self.stack)
        if action >= FIRST_COMPLETE:
            return State(self.front, self.stack[:-1])
        return State(self.front, reduced(self.stack, action, self.stack[-2] | self.stack[-1]))


def reduced(stack: tuple[Item, ...], action: int, joined: Item) -> tuple[Item, ...]:
    """The stack after a REDUCE of some kind.

    >>> reduced(("below", "left", "right"), LEFT_REDUCE, "both")
    ('below', 'left', 'both')
    """
    kept = {REDUCE: (), LEFT_REDUCE: stack[-2:-1], RIGHT_REDUCE: stack[-1:]}[action]
    return (*stack[:-2], *kept, joined)


def entities_of(actions: Iterable[int]) -> list[Entity]:
    """What a sequence of valid actions completes, in its order."""
    state, found = State(), []
    for action in actions:
        if action >= FIRST_COMPLETE:
            found.append((action - FIRST_COMPLETE, state.stack[-1]))
        state = state.after(action)
    return found
