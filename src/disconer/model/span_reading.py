"""From the span head's decisions to entities with scores. No torch here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from disconer.model.found import Found
from disconer.model.reader import Ints
from disconer.model.span_decisions import Floats, Fragments, Rules
from disconer.span.decode import Assembled, assemble

MOST_ENTITIES = 1000  # of one label in a window: more come only of a model that has not learnt anything

Edges = dict[tuple[int, int], float]


def read_entities(
    fragments: Fragments, pairs: Ints, succession: Floats, labels: Sequence[str], rules: Rules, n_rows: int
) -> list[list[Found]]:
    """The entities of each window.

    pairs: of fragments, by position.  Shape: (2, pairs)
    succession: the probability that a pair is of one entity; 0 where it is judged not to be.  Shape: (pairs,)

    The score of an entity is the probability that every decision it stands on is right, taken as independent:
    the product over its fragments of the probability of their label, and over pairs of its fragments of the
    probability of succession.
    """
    edges = _edges_by_row(fragments, pairs, succession)
    found: list[list[Found]] = [[] for _ in range(n_rows)]
    _read_simple(fragments, labels, found, except_rows=edges)
    for row, own in edges.items():
        found[row] = _Graph(fragments, row, own, labels).read(parts=rules.parts)
    return found


def _edges_by_row(fragments: Fragments, pairs: Ints, succession: Floats) -> dict[int, Edges]:
    linked = np.flatnonzero(succession)
    edges: defaultdict[int, Edges] = defaultdict(dict)
    rows = fragments.spans.row[pairs[0, linked]].tolist()
    for row, pair, chance in zip(rows, pairs[:, linked].T.tolist(), succession[linked].tolist(), strict=True):
        edges[row][pair[0], pair[1]] = chance
    return edges


def _read_simple(
    fragments: Fragments, labels: Sequence[str], found: list[list[Found]], except_rows: dict[int, Edges]
) -> None:
    """Windows without any edge: what is whole is an entity."""
    spans = fragments.spans
    which, label = fragments.whole.nonzero()
    columns = (spans.row[which], spans.start[which], spans.end[which], label, fragments.whole_chances[which, label])
    for row, start, end, number, chance in zip(*(column.tolist() for column in columns), strict=True):
        if row not in except_rows:
            found[row].append(Found(labels[number], ((start, end),), chance))


class _Graph:
    """The fragments of a window with edges."""

    def __init__(self, fragments: Fragments, row: int, edges: Edges, labels: Sequence[str]) -> None:
        first, end = np.searchsorted(fragments.spans.row, [row, row + 1]).tolist()
        spans = fragments.spans
        self._ranges = list(zip(spans.start[first:end].tolist(), spans.end[first:end].tolist(), strict=True))
        self._edges = {(a - first, b - first): chance for (a, b), chance in edges.items()}
        self._labels, self._numbers = labels, {label: number for number, label in enumerate(labels)}
        self._chances, self._possible = fragments.chances[first:end], fragments.possible[first:end]
        self._whole_chances, self._whole = fragments.whole_chances[first:end], fragments.whole[first:end]

    def read(self, *, parts: bool) -> list[Found]:
        """Its entities: the maximal cliques of several fragments, and what is whole.

        parts: whether what is whole may also be a part.
        """
        cliques = [entity for entity in self._cliques() if len(entity.spans) > 1]
        joined = set() if parts else {(span, entity.label) for entity in cliques for span in entity.spans}
        found = [Found(entity.label, entity.ranges, self._score(entity)) for entity in cliques]
        for span, number in zip(*(axis.tolist() for axis in self._whole.nonzero()), strict=True):
            if (span, self._labels[number]) not in joined:
                chance = float(self._whole_chances[span, number])
                found.append(Found(self._labels[number], (self._ranges[span],), chance))
        return found

    def _cliques(self) -> list[Assembled]:
        labels: list[list[str]] = [[] for _ in self._ranges]
        for span, number in zip(*(axis.tolist() for axis in self._possible.nonzero()), strict=True):
            labels[span].append(self._labels[number])
        return assemble(self._ranges, labels, self._edges, most=MOST_ENTITIES)

    def _score(self, entity: Assembled) -> float:
        score = float(self._chances[list(entity.spans), self._numbers[entity.label]].prod())
        for pair in combinations(entity.spans, 2):
            score *= self._edges[pair]
        return score
