from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.model.span_decisions import Bools, Floats, Fragments, Rules, SpanPlaces, pairs_within_rows, possible_pairs
from disconer.model.span_reading import read_entities


def places(*spans: tuple[int, int, int]) -> SpanPlaces:
    return SpanPlaces(*np.array(spans, dtype=np.int64).reshape(-1, 3).T)


def plain(spans: SpanPlaces, chances: Floats, labelled: Bools) -> Fragments:
    """Fragments as in the paper, where a part may be a whole."""
    return Fragments(spans, chances, labelled, chances, labelled)


@given(st.lists(st.integers(0, 5), max_size=12).map(sorted))
def test_pairs_are_all_pairs_of_a_row(rows: list[int]) -> None:
    wanted = [(a, b) for a, b in combinations(range(len(rows)), 2) if rows[a] == rows[b]]
    assert pairs_within_rows(np.array(rows, dtype=np.int64)).T.tolist() == [list(pair) for pair in wanted]


def test_a_window_keeps_its_best_spans_at_most_one_a_word() -> None:
    spans = places((0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 0, 1))
    scores = np.array([[0, 3], [0, 1], [0, 2], [0, 1]], dtype=np.float32)
    kept = Rules().decide(spans, scores, [2, 5]).spans
    assert list(zip(kept.row, kept.start, kept.end, strict=True)) == [(0, 0, 1), (0, 1, 2), (1, 0, 1)]


def test_one_label_or_several() -> None:
    spans, scores = places((0, 0, 1)), np.array([[0, 2, 3, -1]], dtype=np.float32)
    one = Rules().decide(spans, scores, [4])
    assert one.possible.tolist() == one.whole.tolist() == [[False, True, False]]
    assert one.chances[0, 1] == pytest.approx(np.exp(3) / (1 + np.exp(2) + np.exp(3) + np.exp(-1)))
    several = Rules(several=True).decide(spans, scores, [4])
    assert several.possible.tolist() == several.whole.tolist() == [[True, True, False]]
    assert several.chances[0, 2] == pytest.approx(1 / (1 + np.e))


def test_pairs_share_a_label_and_have_a_word_between_them() -> None:
    spans = places((0, 0, 1), (0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 7, 8))
    labelled = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [1, 1]], dtype=bool)
    fragments = plain(spans, np.ones((5, 2), dtype=np.float32), labelled)
    assert possible_pairs(fragments).T.tolist() == [[0, 2], [1, 2], [2, 3]]


def test_entities_of_windows_with_and_without_edges() -> None:
    spans = places((0, 0, 1), (2, 0, 1), (2, 2, 3), (2, 4, 5))
    labelled = np.array([[1, 1], [1, 0], [1, 0], [1, 0]], dtype=bool)
    chances = np.array([[0.5, 0.25], [0.5, 0], [0.5, 0], [0.5, 0]], dtype=np.float32)
    pairs, succession = np.array([[1, 1], [2, 3]]), np.array([0.5, 0], dtype=np.float32)
    fragments = plain(spans, chances, labelled)
    found = read_entities(fragments, pairs, succession, ["ADR", "Drug"], Rules(), n_rows=3)
    assert found == [
        [("ADR", ((0, 1),), 0.5), ("Drug", ((0, 1),), 0.25)],
        [],
        [("ADR", ((0, 1), (2, 3)), 0.125), ("ADR", ((4, 5),), 0.5)],
    ]


def test_parts_have_classes_of_their_own() -> None:
    """None, two labels as a whole, the same two as a part."""
    scores = np.array([[0, 2, 0, 1, 0], [0, 0, 1, 0, 3], [1, 0, 0, 0, -1]], dtype=np.float32)
    fragments = Rules(parts=True, part_chance=0.2).decide(places((0, 0, 1), (0, 2, 3), (0, 4, 5)), scores, [9])
    assert fragments.whole.tolist() == [[True, False], [False, False], [False, False]]
    assert fragments.possible.tolist()[:2] == [[True, False], [False, True]]
    powers = np.exp(scores[0])
    assert fragments.chances[0, 0] == pytest.approx((powers[1] + powers[3]) / powers.sum())
    assert fragments.whole_chances[0, 0] == pytest.approx(powers[1] / powers.sum())


def test_a_whole_may_be_a_part_too() -> None:
    possible, whole = np.ones((2, 1), dtype=bool), np.array([[True], [False]])
    chances, whole_chances = np.array([[[0.75], [0.5]], [[0.5], [0.25]]], dtype=np.float32)
    fragments = Fragments(places((0, 0, 1), (0, 2, 3)), chances, possible, whole_chances, whole)
    pairs, succession = np.array([[0], [1]]), np.array([0.5], dtype=np.float32)
    (found,) = read_entities(fragments, pairs, succession, ["ADR"], Rules(parts=True), n_rows=1)
    assert found == [("ADR", ((0, 1), (2, 3)), 0.1875), ("ADR", ((0, 1),), 0.5)]
    (found,) = read_entities(fragments, pairs, np.zeros(1, dtype=np.float32), ["ADR"], Rules(parts=True), n_rows=1)
    assert found == [("ADR", ((0, 1),), 0.5)]
