"""Nodes and edges of the hypergraph, and what it can express. No torch here.

Each word and label has a graph of its own, for the entities that start there. Its nodes say, for a word at some offset
from the first one, whether it is in the entity, and in which fragment it is or which fragment comes before it. An
entity is one path, an edge for each of its words and those in its gaps, and one where it ends:

    start  the first word          go_on  the next word of a fragment     leave  the first word of a gap
    end    the last word is over   resume the first word after a gap      wait   a further word of a gap

A node in a fragment chooses one or more of end, go_on and leave; one in a gap, one or both of wait and resume. So
several entities that start together are a tree, which branches where they part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from disconer.evaluate.check import Reach, WordEntity
from disconer.text.alignment import Range

Step = tuple[int, int]  # the offset of a word from the first one of an entity, and the number of an edge
Path = tuple[Step, ...]


@dataclass(frozen=True)
class Edges:
    """Numbers of the edges for entities of at most `fragments` fragments; fragments count from 0.

    In the order of numbers: end, go_on, resume, leave, wait, each for all fragments that can have it. `start` is
    go_on at the offset 0, where no other edge leads.
    """

    fragments: int

    def __len__(self) -> int:
        return 5 * self.fragments - 3

    def end(self, fragment: int) -> int:
        return fragment

    def go_on(self, fragment: int) -> int:
        return self.fragments + fragment

    def resume(self, fragment: int) -> int:
        """fragment: the one that starts."""
        return 2 * self.fragments + fragment - 1

    def leave(self, fragment: int) -> int:
        """fragment: the one before the gap."""
        return 3 * self.fragments - 1 + fragment

    def wait(self, fragment: int) -> int:
        """fragment: the one before the gap."""
        return 4 * self.fragments - 2 + fragment

    def names(self) -> list[tuple[str, int]]:
        """What each edge is, and for which fragment."""
        own, gaps = range(self.fragments), range(self.fragments - 1)
        groups = {"end": own, "go_on": own, "resume": range(1, self.fragments), "leave": gaps, "wait": gaps}
        return [(name, fragment) for name, numbers in groups.items() for fragment in numbers]

    def path(self, ranges: Sequence[Range]) -> Path:
        """The edges of an entity. Its fragments have words between them.

        >>> Edges(2).path([(5, 6), (8, 9)])
        ((0, 2), (1, 5), (2, 6), (3, 4), (3, 1))
        """
        first, last = ranges[0][0], len(ranges) - 1
        steps: list[int] = []
        for fragment, (start, end) in enumerate(ranges):
            if fragment:
                gap = start - ranges[fragment - 1][1]
                steps += [self.leave(fragment - 1), *[self.wait(fragment - 1)] * (gap - 1), self.resume(fragment)]
            steps += [self.go_on(fragment)] * (end - start - (fragment > 0))
        return (*enumerate(steps), (ranges[-1][1] - 1 - first, self.end(last)))


class Node(NamedTuple):
    """A place on a path: a word by its offset, and the words taken so far as ranges of offsets."""

    offset: int
    taken: tuple[Range, ...]

    @property
    def inside(self) -> bool:
        """Whether the word is in a fragment."""
        return self.taken[-1][1] > self.offset

    def options(self, edges: Edges) -> list[tuple[Step, Node | None]]:
        """What can be chosen here, and where it leads; None: the entity ends."""
        fragment, following = len(self.taken) - 1, self.offset + 1
        *before, (start, _) = self.taken
        stay = Node(following, self.taken)
        if not self.inside:
            resumed = Node(following, (*self.taken, (following, following + 1)))
            return [((following, edges.wait(fragment)), stay), ((following, edges.resume(fragment + 1)), resumed)]
        longer = Node(following, (*before, (start, following + 1)))
        ways = [((self.offset, edges.end(fragment)), None), ((following, edges.go_on(fragment)), longer)]
        return [*ways, ((following, edges.leave(fragment)), stay)] if fragment + 1 < edges.fragments else ways


FIRST = Node(0, ((0, 1),))
# Which of the steps that are possible at a node are taken, and the log probability of each.
Choose = Callable[[Sequence[Step], float], Iterable[tuple[Step, float]]]


def walk(edges: Edges, choose: Choose, score: float = 0.0) -> Iterator[tuple[tuple[Range, ...], float]]:
    """The entities on all paths of choices from the first word: their ranges by offset, and their scores.

    score: of the first word; the scores of steps are added. `choose` is told the score up to its node.
    """
    waiting = [(FIRST, score)]
    while waiting:
        node, score = waiting.pop()
        options = dict(node.options(edges))
        for step, more in choose(list(options), score):
            following = options[step]
            if following is None:
                yield node.taken, score + more
            else:
                waiting.append((following, score + more))


def shifted(offsets: Sequence[Range], first: int) -> tuple[Range, ...]:
    """Ranges of offsets as ranges of words."""
    return tuple((first + start, first + end) for start, end in offsets)


# What can be expressed


NO_GAP = "has two fragments without a word in between"


def why_not(ranges: Sequence[Range], reach: int, edges: Edges) -> str | None:
    """Why an entity has no path; None if it has one."""
    if ranges[-1][1] - ranges[0][0] > reach:
        return f"has more than {reach} words from first to last (head.reach)"
    if len(ranges) > edges.fragments:
        return f"has more than {edges.fragments} fragments (head.max_fragments)"
    touching = any(before[1] == after[0] for before, after in pairwise(ranges))
    return NO_GAP if touching else None


def hypergraph_reach(entities: Iterable[WordEntity], reach: int, edges: Edges) -> Reach:
    """What is found of the entities of a sentence: all paths over the edges of those that have a path."""
    lost: dict[WordEntity, str] = {}
    chosen: dict[tuple[str, int], set[Step]] = {}
    for label, ranges in entities:
        if reason := why_not(ranges, reach, edges):
            lost[label, ranges] = reason
        else:
            chosen.setdefault((label, ranges[0][0]), set()).update(edges.path(ranges))
    found = frozenset(
        (label, shifted(taken, first))
        for (label, first), steps in chosen.items()
        for taken, _ in walk(edges, partial(_those_in, steps))
    )
    return Reach(found, lost)


def _those_in(steps: set[Step], options: Sequence[Step], _: float) -> Iterator[tuple[Step, float]]:
    return ((step, 0.0) for step in options if step in steps)
