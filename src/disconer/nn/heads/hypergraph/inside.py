"""The dynamic programme over the hypergraph, for arrays of NumPy and tensors of torch alike. No torch here.

A node chooses one or more of its edges, and the tree goes on below each of them. The weights of all choices among two
edges with the weights a and b add up to a + b + ab; of three likewise, two by two. From the last offset to the first,
this gives for each node the sum over all trees below it. The sum is exact, and counts each set of entities once, as a
set of entities has one tree. With the larger weight in place of the sum, it is the best tree instead. All in log space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from disconer.nn.heads.hypergraph.paths import Edges, Groups

IMPOSSIBLE = -1e4  # the score of an edge that does not exist; finite, so that gradients are


class Algebra(NamedTuple):
    """add: of the logs of two weights, that of their sum, or the larger one.  join: arrays along their first axis."""

    add: Callable[[Any, Any], Any]
    join: Callable[[list[Any]], Any]

    def either(self, a: Any, b: Any) -> Any:
        """One of two choices, or both."""
        return self.add(self.add(a, b), a + b)


SUM = Algebra(np.logaddexp, np.concatenate)
BEST = Algebra(np.maximum, np.concatenate)


def inside(scores: Any, edges: Edges, algebra: Algebra) -> list[Any]:
    """For each offset and edge, the log weight of all trees below the edge, its own score included (or the best one).

    scores: IMPOSSIBLE where a sentence has no word.  Shape: (offsets, edges, …)
    Returns: an array for each offset. At the offset 0, that of `edges.start` is the weight of all sets of one or more
        entities.  Shape: (edges, …)
    """
    either, join, memory = algebra.either, algebra.join, edges.memory
    found: list[Any] = []
    for offset, own in reversed(list(enumerate(map(edges.split, scores)))):
        first, word, gap = own.first_end, own.end, 0 * own.end + IMPOSSIBLE  # nodes: a gap is before a later fragment
        if found:
            after = edges.split(found[-1])
            first = either(first, after.first_go_on)
            if edges.fragments > 1:
                first = either(first, after.first_leave)
            word = either(word, after.go_on)
            word = join([either(word[:-memory], after.leave), word[-memory:]])
            gap = either(after.wait, after.resume)
        known = gap[offset % memory :][:1]  # of the gaps after the first fragment, the one that knows its width: offset
        weights = Groups(
            first_end=own.first_end,
            first_go_on=own.first_go_on + first,
            end=own.end,
            go_on=own.go_on + word,
            resume=own.resume + word,
            wait=own.wait + gap,
            first_leave=own.first_leave + known,
            leave=own.leave + gap[memory:],
        )
        found.append(join([*weights]))
    return found[::-1]
