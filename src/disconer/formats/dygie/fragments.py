"""sodner's encoding of entities and trees: fragments with relations, a tree as the neighbours of each token; and back.

sodner stores each fragment of each entity in `ner`, and `Combined` relations between the fragments of one
entity, in both directions. Entities are rebuilt:

1. Fragments of one label that are `Combined`, with a token between them, form a graph; its maximal cliques
   are entities. A `Combined` that joins nothing of one label is left out, and counted.
2. A fragment is listed once for each entity that it is part of. One that is listed more often than it occurs
   in cliques, while nothing `Combined` with it is, stands alone as well.
3. Where the listing leaves more than one reading, the cliques are kept and counted as doubtful: three
   fragments that all combine may be one entity or three of two fragments each.

sodner stores no directions. But it goes through the tokens in order and notes each one's arc at both ends,
so that a token's list holds its dependents to the left, its head, its dependents to the right. That order
rules out most roots; of those that are left, the token with the most neighbours is taken (CRAFT dev: the
tree as it was for 94 % of 2,780 sentences). The graph is the same whatever the root.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from disconer.text.alignment import Range
from disconer.text.fragment_graph import assemble

COMBINED, OVERLAP = "Combined", "Overlap"

Key = tuple[str, tuple[Range, ...]]  # an entity: label and token ranges
Fragment = tuple[Range, str]  # token range and label
Relation = tuple[Range, Range, str]


def take_apart(entities: Sequence[Key]) -> tuple[list[Fragment], list[Relation]]:
    """What sodner stores for these entities, in its order: fragments, and the relations between them."""
    fragments: list[Fragment] = []
    relations: list[Relation] = []
    for number, (label, ranges) in enumerate(entities):
        others = [other for place, (_, own) in enumerate(entities) if place != number for other in own]
        for own in ranges:
            fragments.append((own, label))
            relations += [(own, other, OVERLAP) for other in others if other != own and _share_tokens(own, other)]
        relations += [(a, b, COMBINED) for a, b in permutations(ranges, 2)]
    return fragments, relations


def _share_tokens(a: Range, b: Range) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Entities in the order in which their fragments are listed, and what was not clear about them."""

    entities: list[Key]
    n_doubtful: int
    n_unused: int  # `Combined` relations that join nothing, each direction by itself
    n_cut: int = 0  # labels with more cliques than are read


def rebuild(fragments: Sequence[Fragment], relations: Iterable[Relation]) -> Rebuilt:
    """The entities of stored fragments and relations, by the rules above."""
    labels: dict[Range, list[str]] = {span: [] for span, _ in sorted(fragments)}
    for span, label in dict.fromkeys(fragments):
        labels[span].append(label)
    place = {span: number for number, span in enumerate(labels)}
    combined = [(a, b) for a, b, name in relations if name == COMBINED]
    joining = [(a, b) for a, b in combined if _common(a, b, labels) and (a[1] < b[0] or b[1] < a[0])]
    cut: list[str] = []
    found = assemble(list(labels), list(labels.values()), [(place[a], place[b]) for a, b in joining], cut=cut.append)
    entities = [(entity.label, entity.ranges) for entity in found]
    surplus = _surplus(fragments, entities)
    partners = _partners(joining, labels)
    for fragment, count in surplus.items():
        if count > 0 and not any(surplus[other] > 0 for other in partners[fragment]):
            entities += [(fragment[1], (fragment[0],))] * count
    order = {fragment: number for number, fragment in reversed(list(enumerate(fragments)))}
    entities.sort(key=lambda entity: [order[span, entity[0]] for span in entity[1]])
    shared = {frozenset(pair) for pair in joining if len(_common(*pair, labels)) > 1}
    n_doubtful = sum(_is_doubtful(entity, surplus, partners, shared) for entity in entities)
    return Rebuilt(entities, n_doubtful, len(combined) - len(joining), len(cut))


def _common(a: Range, b: Range, labels: Mapping[Range, list[str]]) -> set[str]:
    return set(labels.get(a, ())) & set(labels.get(b, ()))


def _surplus(fragments: Sequence[Fragment], entities: Iterable[Key]) -> Counter[Fragment]:
    """How much more often each fragment is listed than it occurs in entities."""
    surplus = Counter(fragments)
    surplus.subtract((span, label) for label, ranges in entities for span in ranges)
    return surplus


def _partners(
    joining: Iterable[tuple[Range, Range]], labels: Mapping[Range, list[str]]
) -> Mapping[Fragment, set[Fragment]]:
    partners: dict[Fragment, set[Fragment]] = defaultdict(set)
    for a, b in joining:
        for label in _common(a, b, labels):
            partners[a, label].add((b, label))
            partners[b, label].add((a, label))
    return partners


def _is_doubtful(
    entity: Key,
    surplus: Mapping[Fragment, int],
    partners: Mapping[Fragment, set[Fragment]],
    shared: set[frozenset[Range]],
) -> bool:
    """Whether the same listing has another reading.

    Two `Combined` fragments are both listed too often; three or more are listed too seldom to say that they are
    one entity; or a relation, which names no label, fits two.
    """
    label, ranges = entity
    own = [(span, label) for span in ranges]
    return (
        any(surplus[fragment] > 0 and any(surplus[other] > 0 for other in partners[fragment]) for fragment in own)
        or (len(own) > 2 and any(surplus[fragment] < 0 for fragment in own))
        or any(frozenset(pair) in shared for pair in permutations(ranges, 2))
    )


Neighbours = Sequence[Sequence[int]]
NO_HEAD = -1


def to_neighbours(heads: Sequence[int]) -> list[list[int]]:
    """The neighbours of each token, in sodner's order.

    >>> to_neighbours([1, -1, 1])
    [[1], [0, 2], [1]]
    """
    neighbours: list[list[int]] = [[] for _ in heads]
    for token, head in enumerate(heads):
        if head != NO_HEAD and head not in neighbours[token]:
            neighbours[head].append(token)
            neighbours[token].append(head)
    return neighbours


def to_heads(neighbours: Neighbours) -> tuple[int, ...] | None:
    """The heads of the tokens, or None where the graph is not a tree (or several), as with enhanced dependencies."""
    if not _is_symmetric(neighbours):
        return None
    heads: list[int | None] = [None] * len(neighbours)
    for token in range(len(neighbours)):
        if heads[token] is None:
            tree = _walk(neighbours, token)
            if sum(len(neighbours[member]) for member in tree) != 2 * (len(tree) - 1):
                return None
            for member, head in _walk(neighbours, _root(neighbours, tree)).items():
                heads[member] = head
    return tuple(head for head in heads if head is not None)


def _is_symmetric(neighbours: Neighbours) -> bool:
    arcs = [(token, other) for token, others in enumerate(neighbours) for other in others]
    known = set(arcs)
    return len(known) == len(arcs) and all(a != b and (b, a) in known for a, b in arcs)


def _walk(neighbours: Neighbours, root: int) -> dict[int, int]:
    """The tokens that can be reached from `root`, each with the one it was reached from; parents come first."""
    reached = {root: NO_HEAD}
    waiting = [root]
    while waiting:
        token = waiting.pop()
        for other in neighbours[token]:
            if other not in reached:
                reached[other] = token
                waiting.append(other)
    return reached


def _root(neighbours: Neighbours, tree: dict[int, int]) -> int:
    """The token of a tree that, as its root, fits the order of most lists, and of those the one most connected."""
    possible = {token: _possible_heads(token, neighbours[token]) for token in tree}
    start = next(iter(tree))
    fits = {start: sum(head in possible[token] for token, head in tree.items())}
    for token, head in tree.items():
        if head != NO_HEAD:  # when the root moves from `head` to `token`, only these two change their heads
            gained = (token in possible[head]) + (NO_HEAD in possible[token])
            fits[token] = fits[head] + gained - (NO_HEAD in possible[head]) - (head in possible[token])
    return max(sorted(tree), key=lambda token: (fits[token], len(neighbours[token])))


def _possible_heads(token: int, others: Sequence[int]) -> set[int]:
    """Which neighbours of a token can be its head, by the order in which they are listed."""
    possible = {NO_HEAD} if _ascends(others) else set()
    n_left = next((place for place, other in enumerate(others) if other > token), len(others))
    for place in (n_left - 1, n_left):
        if 0 <= place < len(others):
            left, right = others[:place], others[place + 1 :]
            in_order = all(other < token for other in left) and all(other > token for other in right)
            if in_order and _ascends(left) and _ascends(right):
                possible.add(others[place])
    return possible


def _ascends(numbers: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(numbers))
