"""From scores of pairs of words to entities, and what that can express."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.core.types import Entity
from disconer.nn.heads.grid import GRID
from disconer.nn.heads.grid.oracle import TOO_MANY, too_far
from disconer.nn.heads.grid.reading import MOST_PATHS, Envelopes, Steps, read_entities
from disconer.nn.heads.grid.settings import Decoding, GridSettings
from disconer.nn.windows import Found
from disconer.text.alignment import Range, TokenEntity

Key = tuple[str, tuple[Range, ...]]


def columns(rows: Sequence[Sequence[float]], n_ints: int, n_floats: int) -> list[np.ndarray]:
    table = list(zip(*rows, strict=True)) or [()] * (n_ints + n_floats)
    return [np.array(column, dtype=np.int64 if n < n_ints else np.float32) for n, column in enumerate(table)]


def read(
    envelopes: Sequence[tuple[int, int, float, float, float]],
    steps: Sequence[tuple[int, int, float]],
    *,
    threshold: float = 0.5,
    decoding: Decoding = "envelopes",
) -> list[Found]:
    """Of one window and one label. envelopes: (first, last, probability, whole, gapped)."""
    made = Envelopes(*columns([(0, a, b, 0, *rest) for a, b, *rest in envelopes], 4, 3))
    links = Steps(*columns([(0, *step) for step in steps], 3, 1))
    return read_entities(made, links, ["A"], n_rows=1, threshold=threshold, decoding=decoding)[0]


def test_an_entity_without_a_gap_needs_no_links() -> None:
    [found] = read([(2, 4, 0.9, 0.8, 0.1)], [])
    assert found == ("A", ((2, 5),), pytest.approx(0.72))


def test_links_find_the_parts_of_an_entity_with_a_gap() -> None:
    """Pain (0) and stiffness in my knees (3, 4, 5)."""
    steps = [(0, 3, 0.9), (3, 4, 1.0), (4, 5, 0.95), (0, 1, 0.2), (2, 3, 0.9)]
    found = read([(0, 5, 0.9, 0.1, 1.0), (2, 5, 1.0, 1.0, 0.0)], steps)
    assert found == [
        ("A", ((2, 6),), pytest.approx(1.0)),
        ("A", ((0, 1), (3, 6)), pytest.approx(0.9 * 0.9 * 0.95)),
    ]


def test_every_decision_counts() -> None:
    steps = [(0, 2, 0.7), (2, 4, 0.7)]
    assert read([(0, 4, 1.0, 0.0, 1.0)], steps) == []  # 0.49
    assert len(read([(0, 4, 1.0, 0.0, 1.0)], steps, threshold=0.4)) == 1


def test_several_ways_between_two_words_are_several_entities() -> None:
    steps = [(0, 1, 0.9), (0, 2, 0.8), (1, 4, 0.9), (2, 4, 0.95)]
    found = read([(0, 4, 1.0, 0.0, 1.0)], steps)
    assert [(one.ranges, one.score) for one in found] == [
        (((0, 1), (2, 3), (4, 5)), pytest.approx(0.76)),
        (((0, 2), (4, 5)), pytest.approx(0.81)),
    ][::-1]


def test_paths_decoding_asks_for_links_everywhere() -> None:
    envelopes = [(0, 2, 0.9, 1.0, 0.0), (1, 1, 0.9, 0.0, 0.0), (3, 4, 0.9, 1.0, 0.0)]
    found = read(envelopes, [(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.9)], decoding="paths")
    assert {one.ranges for one in found} == {((0, 3),), ((0, 1), (2, 3)), ((1, 2),)}


def test_a_model_that_links_everything_does_not_explode() -> None:
    steps = [(a, b, 1.0) for a, b in combinations(range(60), 2)]
    assert len(read([(0, 59, 1.0, 0.0, 1.0)], steps)) <= MOST_PATHS
    assert len(read([(0, 59, 1.0, 0.0, 1.0)], steps, decoding="paths")) == MOST_PATHS


def token_entities(keys: Sequence[Key]) -> list[TokenEntity]:
    return [TokenEntity(label, ranges, Entity(label, ((0, 1),))) for label, ranges in keys]


def test_reach_is_a_limit_and_says_so() -> None:
    keys: list[Key] = [("A", ((0, 1), (8, 9))), ("A", ((0, 3),))]
    reach = GRID.reach(token_entities(keys), 10, GridSettings(reach=8))
    assert reach.found == {keys[1]}
    assert reach.lost == {keys[0]: too_far(8)}


def test_two_by_two_parts_come_back() -> None:
    """Pain (0) and stiffness (2) in knees (4) and hands (6)"""
    keys: list[Key] = [("A", ((a, a + 1), (b, b + 1))) for a in (0, 2) for b in (4, 6)]
    for decoding in ("envelopes", "paths"):
        reach = GRID.reach(token_entities(keys), 7, GridSettings(decoding=decoding))
        assert reach.found == set(keys)


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
    """Whatever their shapes, unless mixtures of their links are too many."""
    reach = GRID.reach(token_entities(keys), 15, GridSettings(decoding=decoding))
    assert set(keys) - reach.found == set(reach.lost)
    assert set(reach.lost.values()) <= {TOO_MANY}
    if len(set(keys)) <= 1:
        assert reach.found == set(keys)
