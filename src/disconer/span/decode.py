"""From fragments and succession edges to entities: the maximal cliques of the fragment graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


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
