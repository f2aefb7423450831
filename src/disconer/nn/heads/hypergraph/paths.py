"""Nodes and edges of the hypergraph, and what it can express. No torch here.

Each word and label has a graph of its own, for the entities that start there. An entity is one path: an edge for each
of its words and those in its gaps, and one where it ends.

    start  the first word            go_on   the next word of a fragment    leave  the first word of a gap
    end    no word comes after it    resume  the first word after a gap     wait   a further word of a gap

A node in a fragment chooses one or more of end, go_on and leave; one in a gap, one or both of wait and resume. So
several entities that start together are a tree, which branches where they part. A node knows its word, by the offset
from the first one, whether the word is in a fragment or in a gap, the number of the fragment, and something of the path
that led to it: the number of words of the first fragment, modulo `Edges.memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise, product
from typing import Any, NamedTuple

from disconer.evaluate.check import Reach, WordEntity
from disconer.text.alignment import Range

Step = tuple[int, int]  # the offset of a word from the first one of an entity, and the number of an edge
Path = tuple[Step, ...]
Edge = tuple[str, int, int]


class Groups(NamedTuple):
    """Values of edges, along the first axis: of the first fragment, and of later ones by what is remembered.

    end, go_on, resume, wait: of later fragments; to wait is for the next one.  Shape: (later, …)
    first_leave, leave: of those that are not the last.  Shape: (1, …), (later - memory, …); (0, …) without later ones
    """

    first_end: Any
    first_go_on: Any
    end: Any
    go_on: Any
    resume: Any
    wait: Any
    first_leave: Any
    leave: Any


@dataclass(frozen=True)
class Edges:
    """The edges for entities of at most `fragments` fragments, which count from 0, by numbers in the order of `Groups`.

    memory: the number of words of the first fragment is known modulo this.

    >>> len(Edges(1, 1)), len(Edges(2, 1)), len(Edges(3, 1)), len(Edges(3, 2))
    (2, 7, 12, 21)
    """

    fragments: int
    memory: int

    @cached_property
    def names(self) -> list[Edge]:
        """What each edge is, for which fragment, and what is remembered."""
        later = [*product(range(1, self.fragments), range(self.memory))]
        of_later = [(kind, *one) for kind in ("end", "go_on", "resume", "wait") for one in later]
        leaving = [(0, 0), *later][: -self.memory] if later else []  # the last fragment has none
        return [("end", 0, 0), ("go_on", 0, 0), *of_later, *(("leave", *one) for one in leaving)]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _numbers(self) -> dict[Edge, int]:
        return {name: number for number, name in enumerate(self.names)}

    def number(self, kind: str, fragment: int, width: int) -> int:
        """width: the words of the first fragment."""
        return self._numbers[kind, fragment, width % self.memory if fragment else 0]

    @property
    def start(self) -> int:
        """The edge to the first word: `go_on` at the offset 0, where no other edge leads."""
        return self.number("go_on", 0, 0)

    @property
    def sizes(self) -> list[int]:
        """How many edges each of the `Groups` has."""
        later = (self.fragments - 1) * self.memory
        return [1, 1, later, later, later, later, min(later, 1), max(0, later - self.memory)]

    def path(self, ranges: Sequence[Range]) -> Path:
        """The edges of an entity. Its fragments have words between them.

        >>> edges = Edges(2, memory=1)
        >>> [(offset, edges.names[edge][0]) for offset, edge in edges.path([(5, 6), (8, 9)])]
        [(0, 'go_on'), (1, 'leave'), (2, 'wait'), (3, 'resume'), (3, 'end')]
        """
        first, width, last = ranges[0][0], ranges[0][1] - ranges[0][0], len(ranges) - 1
        steps = [("go_on", 0)] * width
        for fragment, (before, (start, end)) in enumerate(pairwise(ranges), 1):
            gap = start - before[1]
            steps += [("leave", fragment - 1), *[("wait", fragment)] * (gap - 1)]
            steps += [("resume", fragment), *[("go_on", fragment)] * (end - start - 1)]
        numbers = [self.number(kind, fragment, width) for kind, fragment in steps]
        return (*enumerate(numbers), (ranges[-1][1] - 1 - first, self.number("end", last, width)))


class Node(NamedTuple):
    """A place on a path: a word by its offset, and the words taken so far as ranges of offsets."""

    offset: int
    taken: tuple[Range, ...]

    def options(self, edges: Edges) -> list[tuple[Step, Node | None]]:
        """What can be chosen here, and where it leads; None: the entity ends."""
        fragment, following, width = len(self.taken) - 1, self.offset + 1, self.taken[0][1]
        *before, (start, end) = self.taken

        def step(offset: int, kind: str, fragment: int) -> Step:
            return offset, edges.number(kind, fragment, width)

        passed = Node(following, self.taken)
        if end <= self.offset:  # in a gap
            resumed = Node(following, (*self.taken, (following, following + 1)))
            return [
                (step(following, "wait", fragment + 1), passed),
                (step(following, "resume", fragment + 1), resumed),
            ]
        longer = Node(following, (*before, (start, following + 1)))
        ways = [(step(self.offset, "end", fragment), None), (step(following, "go_on", fragment), longer)]
        more = fragment + 1 < edges.fragments
        return [*ways, (step(following, "leave", fragment), passed)] if more else ways


FIRST = Node(0, ((0, 1),))
# Which of the steps that are possible at a node are taken, and the log probability of each.
Choose = Callable[[Sequence[Step], float], Iterable[tuple[Step, float]]]


def walk(edges: Edges, choose: Choose, score: float = 0.0) -> Iterator[tuple[tuple[Range, ...], float]]:
    """The entities on all paths of choices from the first word: their ranges by offset, and their scores.

    score: of the first word; the scores of steps are added. `choose` gets the score up to its node.
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
