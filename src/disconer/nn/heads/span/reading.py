"""From the span head's decisions to entities with scores. No torch here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from disconer.nn.heads.span.decisions import Floats, Fragments
from disconer.nn.reader import Ints
from disconer.nn.windows import Found
from disconer.text.fragment_graph import assemble

MOST_ENTITIES = 1000  # of one label in a window: more come only of a model that has not learnt anything

Edges = dict[tuple[int, int], float]


def read_entities(
    fragments: Fragments, pairs: Ints, succession: Floats, labels: Sequence[str], n_rows: int
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
        found[row] = _read_graph(fragments, row, own, labels)
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
    """Windows without any edge: each label of each fragment is an entity."""
    spans = fragments.spans
    which, label = fragments.labelled.nonzero()
    columns = (spans.row[which], spans.start[which], spans.end[which], label, fragments.chances[which, label])
    for row, start, end, number, chance in zip(*(column.tolist() for column in columns), strict=True):
        if row not in except_rows:
            found[row].append(Found(labels[number], ((start, end),), chance))


def _read_graph(fragments: Fragments, row: int, edges: Edges, labels: Sequence[str]) -> list[Found]:
    """A window with edges: its entities are the maximal cliques."""
    first, end = np.searchsorted(fragments.spans.row, [row, row + 1]).tolist()
    ranges = list(zip(fragments.spans.start[first:end].tolist(), fragments.spans.end[first:end].tolist(), strict=True))
    chances: list[dict[str, float]] = [{} for _ in ranges]
    for own, number in zip(*(axis.tolist() for axis in fragments.labelled[first:end].nonzero()), strict=True):
        chances[own][labels[number]] = float(fragments.chances[first + own, number])
    links = {(a - first, b - first): chance for (a, b), chance in edges.items()}
    found = []
    for entity in assemble(ranges, [list(own) for own in chances], links, most=MOST_ENTITIES):
        score = 1.0
        for span in entity.spans:
            score *= chances[span][entity.label]
        for pair in combinations(entity.spans, 2):
            score *= links[pair]
        found.append(Found(entity.label, entity.ranges, score))
    return found
