"""From fragments and succession edges to entities: the maximal cliques of the fragment graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from disconer.text.alignment import Range


class Assembled(NamedTuple):
    """An entity read off the graph: its label, its token ranges, and the spans that make it up, by position."""

    label: str
    ranges: tuple[Range, ...]
    spans: tuple[int, ...]


def assemble(
    spans: Sequence[Range],
    labels: Sequence[Sequence[str]],
    succession: Iterable[tuple[int, int]],
    most: int | None = None,
) -> list[Assembled]:
    """The entities that labelled spans and the succession between them form.

    spans, labels: the fragments, sorted, and of each its labels.
    succession: pairs of positions in `spans`. Only a pair of one label with a token between them counts:
        fragments of different types never merge, and what overlaps or touches is not succession.
    most: maximum number of entities per label; a dense graph has exponentially many cliques.
    """
    edges = [(a, b) if a < b else (b, a) for a, b in succession]
    edges = [(a, b) for a, b in edges if spans[a][1] < spans[b][0]]
    found = []
    for label in dict.fromkeys(label for own in labels for label in own):
        nodes = [number for number, own in enumerate(labels) if label in own]
        place = {number: node for node, number in enumerate(nodes)}
        links = [(place[a], place[b]) for a, b in edges if a in place and b in place]
        for clique in islice(maximal_cliques(len(nodes), links), most):
            members = tuple(nodes[node] for node in clique)
            found.append(Assembled(label, tuple(spans[number] for number in members), members))
    return found


def maximal_cliques(n_nodes: int, edges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """Every maximal clique of an undirected graph, its nodes in order; a node without edges is one by itself.

    Bron and Kerbosch's search with Tomita's pivot, sets of nodes as the bits of integers.

    >>> sorted(maximal_cliques(4, [(0, 1), (1, 2)]))
    [(0, 1), (1, 2), (3,)]
    """
    neighbours = [0] * n_nodes
    for a, b in edges:
        if a != b:
            neighbours[a] |= 1 << b
            neighbours[b] |= 1 << a
    connected = 0
    for node, around in enumerate(neighbours):
        if around:
            connected |= 1 << node
        else:
            yield (node,)
    if connected:
        yield from _extend((), connected, 0, neighbours)


def _extend(clique: tuple[int, ...], candidates: int, done: int, neighbours: list[int]) -> Iterator[tuple[int, ...]]:
    """Maximal cliques that contain `clique`, some of `candidates`, and none of `done`."""
    if not candidates:
        if not done:
            yield tuple(sorted(clique))
        return
    pivot = max(_bits(candidates | done), key=lambda node: (neighbours[node] & candidates).bit_count())
    for node in _bits(candidates & ~neighbours[pivot]):
        bit = 1 << node
        yield from _extend((*clique, node), candidates & neighbours[node], done & neighbours[node], neighbours)
        candidates &= ~bit
        done |= bit


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest
