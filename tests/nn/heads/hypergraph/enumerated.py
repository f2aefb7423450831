"""All sets of entities that start at one word, one by one: what the dynamic programme must agree with."""

from __future__ import annotations

from itertools import product

import numpy as np

from disconer.nn.heads.hypergraph.paths import Edges
from disconer.text.alignment import Range, merge_adjacent


def all_entities(fragments: int, n_words: int) -> list[tuple[Range, ...]]:
    """All that start at the first word."""
    found = []
    for rest in product([False, True], repeat=n_words - 1):
        ranges = merge_adjacent((word, word + 1) for word, taken in enumerate([True, *rest]) if taken)
        if len(ranges) <= fragments:
            found.append(ranges)
    return found


class Enumerated:
    """Every set of entities of one word and label. Its score is the sum over the branches of its tree.

    sets: which entities each has.  Shape: (sets, entities)
    edge_counts: how often its tree has each edge.  Shape: (sets, offsets, edges)
    scores, probabilities:  Shape: (sets,)
    """

    def __init__(self, scores: np.ndarray, edges: Edges) -> None:
        self.entities = all_entities(edges.fragments, len(scores))
        paths = [edges.path(ranges) for ranges in self.entities]
        branches = sorted({path[:end] for path in paths for end in range(1, len(path) + 1)})
        has_branch = np.array([[path[: len(branch)] == branch for branch in branches] for path in paths])
        numbers = np.arange(2 ** len(paths))
        self.sets = (numbers[:, None] >> np.arange(len(paths)) & 1).astype(bool)
        trees = self.sets.astype(np.float64) @ has_branch > 0  # (sets, branches)
        on_edge = np.zeros((len(branches), *scores.shape))
        for number, branch in enumerate(branches):
            on_edge[(number, *branch[-1])] = 1
        self.edge_counts = np.tensordot(trees.astype(np.float64), on_edge, 1)
        self.scores = np.tensordot(self.edge_counts, scores, 2)
        self.log_partition = np.logaddexp.reduce(self.scores)
        self.probabilities = np.exp(self.scores - self.log_partition)
