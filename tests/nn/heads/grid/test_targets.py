"""What the grid head learns from entities, and what it can express."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from disconer.core.types import Entity
from disconer.nn.heads.grid import GRID
from disconer.nn.heads.grid.kind import GridSettings
from disconer.nn.heads.grid.reading import Decoding
from disconer.nn.heads.grid.targets import A_PART, TOO_MANY, grid_targets, too_far
from disconer.text.alignment import Range, TokenEntity

Key = tuple[str, tuple[Range, ...]]


def test_an_entity_is_a_cell_and_its_links() -> None:
    """Pain (0) and stiffness in my knees (3, 4, 5): the example of docs/explanation/model.md."""
    pain, stiffness = ("ADR", ((0, 1), (3, 6))), ("ADR", ((2, 6),))
    targets = grid_targets([pain, stiffness], {"ADR": 0}, reach=None)
    assert targets.entities.T.tolist() == [[0, 5, 0, 1], [2, 3, 0, 0]]
    assert targets.links.T.tolist() == [[0, 3], [2, 1], [3, 1], [4, 1]]


def token_entities(keys: Sequence[Key]) -> list[TokenEntity]:
    return [TokenEntity(label, ranges, Entity(label, ((0, 1),))) for label, ranges in keys]


def test_reach_is_a_limit_and_says_so() -> None:
    keys: list[Key] = [("A", ((0, 1), (8, 9))), ("A", ((0, 3),))]
    reach = GRID.reach(token_entities(keys), 10, GridSettings(reach=8))
    assert reach.found == {keys[1]}
    assert reach.lost == {keys[0]: too_far(8)}


def test_contiguous_entities_within_reach_are_found() -> None:
    keys: list[Key] = [("A", ((0, 8),)), ("B", ((0, 8),)), ("A", ((1, 2),)), ("A", ((0, 9),))]
    reach = GRID.reach(token_entities([*keys, keys[0]]), 10, GridSettings(reach=8))
    assert reach.found == set(keys[:3])
    assert reach.lost == {keys[3]: too_far(8)}


def test_two_by_two_parts_come_back() -> None:
    """Pain (0) and stiffness (2) in knees (4) and hands (6)"""
    keys: list[Key] = [("A", ((a, a + 1), (b, b + 1))) for a in (0, 2) for b in (4, 6)]
    for decoding in ("envelopes", "paths"):
        reach = GRID.reach(token_entities(keys), 7, GridSettings(decoding=decoding))
        assert reach.found == set(keys)


def test_a_part_of_another_discontinuous_entity_is_lost_and_the_oracle_says_so() -> None:
    part, whole, same_part = ("A", ((0, 1), (5, 6))), ("A", ((0, 1), (4, 6))), ("B", ((0, 1), (5, 6)))
    reach = GRID.reach(token_entities([part, whole]), 6, GridSettings())
    assert (reach.found, reach.lost) == ({whole}, {part: A_PART})
    assert GRID.reach(token_entities([part, whole]), 6, GridSettings(decoding="paths")).found == {part, whole}
    assert same_part in GRID.reach(token_entities([same_part, ("A", ((0, 6),))]), 6, GridSettings()).found


def test_whether_there_is_a_gap_has_no_label() -> None:
    """As in the network: a pair of words that is an entity of each kind is one of both labels, in both ways."""
    whole, gapped = ((0, 5),), ((0, 1), (4, 5))
    keys: list[Key] = [("A", whole), ("B", gapped)]
    assert GRID.reach(token_entities(keys), 5, GridSettings()).found == {*keys, ("A", gapped), ("B", whole)}


@st.composite
def entity_keys(draw: st.DrawFn) -> list[Key]:
    keys = []
    for _ in range(draw(st.integers(0, 4))):
        cuts = sorted(draw(st.sets(st.integers(0, 14), min_size=2, max_size=6)))
        cuts = cuts[: len(cuts) // 2 * 2]
        ranges = tuple(pairwise(cuts))[::2]
        keys.append((draw(st.sampled_from("AB")), ranges))
    return keys


@given(entity_keys(), st.sampled_from(["envelopes", "paths"]))
def test_gold_entities_come_back(keys: list[Key], decoding: Decoding) -> None:
    """Whatever their shapes, unless mixtures of their links are too many or have them as parts."""
    reach = GRID.reach(token_entities(keys), 15, GridSettings(decoding=decoding))
    assert set(keys) - reach.found == set(reach.lost)
    assert set(reach.lost.values()) <= ({TOO_MANY} if decoding == "paths" else {TOO_MANY, A_PART})
    if len(set(keys)) <= 1:
        assert reach.found == set(keys)
