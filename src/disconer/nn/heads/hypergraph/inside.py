"""The dynamic programme over the hypergraph, for arrays of NumPy and tensors of torch alike. No torch here.

A node chooses one or more of its edges, and the tree goes on below each of them. The weights of all choices among two
edges with the weights a and b add up to a + b + ab; of three likewise, two by two. From the last offset to the first,
this gives for each node the sum over all trees below it. The sum is exact, and counts each set of entities once, as a
set of entities has one tree. With the larger weight in place of the sum, it is the best tree instead. All in log space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from disconer.nn.heads.hypergraph.paths import Edges, Groups
from disconer.nn.reader import Floats

IMPOSSIBLE = -1e4  # the score of an edge that does not exist; finite, so that gradients are


class Algebra(NamedTuple):
    """How weights are added, and how arrays are handled.

    either: of the logs of two weights a and b, that of a + b + ab, or the largest of the three.
    join, split: arrays along their first axis; split into parts of these sizes.
    """

    either: Callable[[Any, Any], Any]
    join: Callable[[list[Any]], Any]
    split: Callable[[Any, list[int]], Sequence[Any]]


def _sum(a: Floats, b: Floats) -> Floats:
    total: Floats = np.logaddexp(np.logaddexp(a, b), a + b)
    return total


def _best(a: Floats, b: Floats) -> Floats:
    best: Floats = np.maximum(np.maximum(a, b), a + b)
    return best


def _split(values: Floats, sizes: list[int]) -> list[Floats]:
    return np.split(values, np.cumsum(sizes)[:-1])


SUM = Algebra(_sum, np.concatenate, _split)
BEST = Algebra(_best, np.concatenate, _split)


def inside(scores: Any, edges: Edges, algebra: Algebra) -> list[Any]:
    """For each offset and edge, the log weight of all trees below the edge, its own score included (or the best one).

    scores: IMPOSSIBLE where a sentence has no word.  Shape: (offsets, edges, …)
    Returns: an array for each offset. At the offset 0, that of `edges.start` is the weight of all sets of one or more
        entities.  Shape: (edges, …)
    """
    either, join, split = algebra.either, algebra.join, algebra.split
    sizes, memory = edges.sizes, edges.memory
    found: list[Any] = []
    for offset, score in reversed(list(enumerate(scores))):
        own = Groups(*split(score, sizes))
        first, word, gap = own.first_end, own.end, 0 * own.end + IMPOSSIBLE  # nodes: a gap is before a later fragment
        if found:
            after = Groups(*split(found[-1], sizes))
            first = either(first, after.first_go_on)
            if edges.fragments > 1:
                first = either(first, after.first_leave)
            word = either(word, after.go_on)
            inner, last = split(word, [sizes[-1], len(word) - sizes[-1]])
            word = join([either(inner, after.leave), last])
            gap = either(after.wait, after.resume)
        first_gap, other_gaps = split(gap, [len(gap) - sizes[-1], sizes[-1]])
        known = first_gap[offset % memory :][:1]  # knows the width of the first fragment, which is the offset
        weights = Groups(
            first_end=own.first_end,
            first_go_on=own.first_go_on + first,
            end=own.end,
            go_on=own.go_on + word,
            resume=own.resume + word,
            wait=own.wait + gap,
            first_leave=own.first_leave + known,
            leave=own.leave + other_gaps,
        )
        found.append(join([*weights]))
    return found[::-1]
