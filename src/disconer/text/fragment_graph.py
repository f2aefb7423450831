"""From fragments and succession edges to entities: the maximal cliques of the fragment graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from disconer.text.alignment import Range

MOST_CLIQUES = 1000  # of one label in a sentence: annotated data has a few


class Assembled(NamedTuple):
    """An entity read off the graph: its label, its token ranges, and the spans that make it up, by position."""

    label: str
    ranges: tuple[Range, ...]
    spans: tuple[int, ...]


def assemble(
    spans: Sequence[Range],
    labels: Sequence[Sequence[str]],
    succession: Iterable[tuple[int, int]],
    most: int = MOST_CLIQUES,
    cut: Callable[[str], None] = lambda label: None,
) -> list[Assembled]:
    """The entities that labelled spans and the succession between them form.

    spans, labels: the fragments, sorted, and of each its labels.
    succession: pairs of positions in `spans`. Only a pair of one label with a token between them counts:
        fragments of different types never merge, and what overlaps or touches is not succession.
    most: maximum number of entities per label; a dense graph has exponentially many cliques.
    cut: called with each label that has more.
    """
    edges = [(a, b) if a < b else (b, a) for a, b in succession]
    edges = [(a, b) for a, b in edges if spans[a][1] < spans[b][0]]
    found = []
    for label in dict.fromkeys(label for own in labels for label in own):
        nodes = [number for number, own in enumerate(labels) if label in own]
        place = {number: node for node, number in enumerate(nodes)}
        links = [(place[a], place[b]) for a, b in edges if a in place and b in place]
        for number, clique in enumerate(maximal_cliques(len(nodes), links)):
            if number == most:
                cut(label)
                break
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
        yield from _search(connected, neighbours)


_Branch = tuple[tuple[int, ...], int, int, Iterator[int]]


def _search(connected: int, neighbours: list[int]) -> Iterator[tuple[int, ...]]:
    """Maximal cliques of nodes with edges. A stack of branches, as recursion would end at cliques of a thousand nodes.

    A branch: the clique so far, nodes that may extend it, nodes that were tried in it, and those still to try.
    """
    stack: list[_Branch] = [((), connected, 0, _to_try(connected, 0, neighbours))]
    while stack:
        clique, candidates, done, ahead = stack.pop()
        node = next(ahead, None)
        if node is None:
            continue
        bit, around = 1 << node, neighbours[node]
        stack.append((clique, candidates & ~bit, done | bit, ahead))
        larger, left, tried = (*clique, node), candidates & around, done & around
        if left:
            stack.append((larger, left, tried, _to_try(left, tried, neighbours)))
        elif not tried:
            yield tuple(sorted(larger))


def _to_try(candidates: int, done: int, neighbours: list[int]) -> Iterator[int]:
    """The candidates that are not neighbours of the pivot: cliques without one of them would not be maximal."""
    pivot = max(_bits(candidates | done), key=lambda node: (neighbours[node] & candidates).bit_count())
    return _bits(candidates & ~neighbours[pivot])


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest
