"""From scores of pairs of words to entities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.nn.heads.grid.reading import (
    MOST_PATHS,
    Decoding,
    Envelopes,
    Steps,
    read_entities,
    read_window,
    without_parts,
)
from disconer.nn.windows import Found


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
    """Pain (0) and stiffness in my knees (3, 4, 5): the example of docs/explanation/model.md."""
    steps = [(0, 3, 0.85), (2, 3, 0.97), (3, 4, 0.98), (4, 5, 0.99), (0, 1, 0.02)]
    found = read([(0, 5, 0.90, 0.05, 0.95), (2, 5, 0.95, 0.98, 0.01)], steps)
    assert found == [
        ("A", ((2, 6),), pytest.approx(0.931)),
        ("A", ((0, 1), (3, 6)), pytest.approx(0.705, abs=1e-3)),
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


@pytest.mark.parametrize(("shorter", "expected"), [(0.8, ["longer"]), (0.95, ["shorter", "longer"])])
def test_near_duplicates_are_left_out_unless_they_are_likelier(shorter: float, expected: list[str]) -> None:
    """Systolic (0) … pressure (5), and Systolic … blood pressure (4, 5)."""
    names = {((0, 1), (5, 6)): "shorter", ((0, 1), (4, 6)): "longer"}
    envelopes, steps = [(0, 5, 1.0, 0.0, 1.0)], [(0, 4, 0.9), (4, 5, 1.0), (0, 5, shorter)]
    assert [names[one.ranges] for one in read(envelopes, steps)] == expected
    assert len(read(envelopes, steps, decoding="paths")) == 2


def test_paths_decoding_asks_for_links_everywhere() -> None:
    envelopes = [(0, 2, 0.9, 1.0, 0.0), (1, 1, 0.9, 0.0, 0.0), (3, 4, 0.9, 1.0, 0.0)]
    found = read(envelopes, [(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.9)], decoding="paths")
    assert {one.ranges for one in found} == {((0, 3),), ((0, 1), (2, 3)), ((1, 2),)}


def test_a_model_that_links_everything_does_not_explode() -> None:
    steps = [(a, b, 1.0) for a, b in combinations(range(60), 2)]
    assert len(read([(0, 59, 1.0, 0.0, 1.0)], steps)) <= MOST_PATHS
    assert len(read([(0, 59, 1.0, 0.0, 1.0)], steps, decoding="paths")) == MOST_PATHS


def test_near_duplicates_of_near_duplicates() -> None:
    wide, middle, narrow = ((0, 2), (4, 6)), ((0, 1), (4, 6)), ((0, 1), (5, 6))
    found = [Found("x", narrow, 0.5), Found("x", middle, 0.6), Found("x", wide, 0.6), Found("y", narrow, 0.5)]
    assert without_parts(found) == [found[2], found[3]]
    likelier = [Found("x", narrow, 0.9), Found("x", middle, 0.8), Found("x", wide, 0.7)]
    assert without_parts(likelier) == likelier


@given(
    likely=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 2), *[st.floats(0.25, 1, width=32)] * 5),
        max_size=20,
    ),
    decoding=st.sampled_from(["envelopes", "paths"]),
    threshold=st.sampled_from([0.1, 0.5, 0.7]),
)
def test_a_window_by_itself_is_read_as_among_others(
    likely: list[tuple[int, int, int, float, float, float, float, float]], decoding: Decoding, threshold: float
) -> None:
    """Numbers 0 and 1 are labels, 2 is a link."""
    pairs = [((first, first + gap), number, scores) for first, gap, number, *scores in likely]
    chosen = [(*ends, number, scores) for ends, number, scores in pairs if scores[number] > np.float32(threshold)]
    labelled = [(0, a, b, number, scores[number], *scores[3:]) for a, b, number, scores in chosen if number < 2]
    linked = [(0, a, b, scores[2]) for a, b, number, scores in chosen if number == 2 and b > a]
    among = read_entities(
        Envelopes(*columns(labelled, 4, 3)),
        Steps(*columns(linked, 3, 1)),
        ["A", "B"],
        n_rows=1,
        threshold=threshold,
        decoding=decoding,
    )
    assert [read_window(pairs, ["A", "B"], threshold=threshold, decoding=decoding)] == among
