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


def inside(scores: Any, fragments: int, algebra: Algebra) -> list[Any]:
    """For each offset and edge, the log weight of all trees below the edge, its own score included (or the best one).

    scores: of edges; IMPOSSIBLE where a sentence has no word.  Shape: (offsets, edges, …)
    Returns: an array for each offset, as `scores[offset]`; that of an end is its score. Of (0, go_on(0)), the `start`,
        it is the weight of all sets of one or more entities.  Shape: (edges, …)
    """
    either, join = algebra.either, algebra.join
    found: list[Any] = []
    for score in reversed(list(scores)):
        end, entering = score[:fragments], score[fragments:]
        if found:
            following = found[-1][fragments:]
            go_on, resume = following[:fragments], following[fragments : 2 * fragments - 1]
            leave, wait = following[2 * fragments - 1 : 3 * fragments - 2], following[3 * fragments - 2 :]
            last = either(end, go_on)
            word = join([either(last[:-1], leave), last[-1:]])
            gap = either(wait, resume)
        else:
            word, gap = end, 0 * end[1:] + IMPOSSIBLE
        found.append(join([end, entering + join([word, word[1:], gap, gap])]))
    return found[::-1]
