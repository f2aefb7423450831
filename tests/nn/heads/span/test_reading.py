from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.nn.heads.span.reading import (
    Fragments,
    SpanPlaces,
    decide,
    pairs_within_rows,
    possible_pairs,
    read_entities,
)


def places(*spans: tuple[int, int, int]) -> SpanPlaces:
    return SpanPlaces(*np.array(spans, dtype=np.int64).reshape(-1, 3).T)


@given(st.lists(st.integers(0, 5), max_size=12).map(sorted))
def test_pairs_are_all_pairs_of_a_row(rows: list[int]) -> None:
    wanted = [(a, b) for a, b in combinations(range(len(rows)), 2) if rows[a] == rows[b]]
    assert pairs_within_rows(np.array(rows, dtype=np.int64)).T.tolist() == [list(pair) for pair in wanted]


def test_a_window_keeps_its_best_spans_at_most_one_per_word() -> None:
    spans = places((0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 0, 1))
    scores = np.array([[0, 3], [0, 1], [0, 2], [0, 1]], dtype=np.float32)
    kept = decide(spans, scores, scores[:, 1], [2, 5], multilabel=False).spans
    assert list(zip(kept.row, kept.start, kept.end, strict=True)) == [(0, 0, 1), (0, 1, 2), (1, 0, 1)]


def test_one_label_or_several() -> None:
    spans, scores = places((0, 0, 1)), np.array([[0, 2, 3, -1]], dtype=np.float32)
    margins = np.ones(1, dtype=np.float32)
    one = decide(spans, scores, margins, [4], multilabel=False)
    assert one.labelled.tolist() == [[False, True, False]]
    assert one.probabilities[0, 1] == pytest.approx(np.exp(3) / (1 + np.exp(2) + np.exp(3) + np.exp(-1)))
    multilabel = decide(spans, scores, margins, [4], multilabel=True)
    assert multilabel.labelled.tolist() == [[True, True, False]]
    assert multilabel.probabilities[0, 2] == pytest.approx(1 / (1 + np.e))


def test_of_equally_probable_labels_a_span_has_one() -> None:
    spans, scores = places((0, 0, 1), (0, 1, 2)), np.array([[0, 3, 3, 1], [0, 1, 90, 90]], dtype=np.float32)
    found = decide(spans, scores, np.ones(2, dtype=np.float32), [4], multilabel=False)
    assert found.labelled.tolist() == [[True, False, False], [False, True, False]]


@pytest.mark.filterwarnings("error")
def test_scores_of_labels_do_not_overflow() -> None:
    scores = np.array([[0, -1e3, 1e3]], dtype=np.float32)
    found = decide(places((0, 0, 1)), scores, np.ones(1, dtype=np.float32), [4], multilabel=True)
    assert found.probabilities.tolist() == [[0, 1]]


def test_pairs_share_a_label_and_have_a_word_between_them() -> None:
    spans = places((0, 0, 1), (0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 7, 8))
    labelled = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [1, 1]], dtype=bool)
    fragments = Fragments(spans, np.ones((5, 2), dtype=np.float32), labelled)
    assert possible_pairs(fragments).T.tolist() == [[0, 2], [1, 2], [2, 3]]


def test_entities_of_windows_with_and_without_edges() -> None:
    spans = places((0, 0, 1), (2, 0, 1), (2, 2, 3), (2, 4, 5))
    labelled = np.array([[1, 1], [1, 0], [1, 0], [1, 0]], dtype=bool)
    probabilities = np.array([[0.5, 0.25], [0.5, 0], [0.5, 0], [0.5, 0]], dtype=np.float32)
    pairs, succession = np.array([[1, 1], [2, 3]]), np.array([0.5, 0], dtype=np.float32)
    found = read_entities(Fragments(spans, probabilities, labelled), pairs, succession, ["ADR", "Drug"], n_rows=3)
    assert found == [
        [("ADR", ((0, 1),), 0.5), ("Drug", ((0, 1),), 0.25)],
        [],
        [("ADR", ((4, 5),), 0.5), ("ADR", ((0, 1), (2, 3)), 0.125)],
    ]
