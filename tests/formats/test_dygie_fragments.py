from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.formats.dygie.fragments import Key, Relation, rebuild, take_apart, to_heads, to_neighbours

A, B, C, D = (0, 1), (2, 3), (4, 5), (6, 7)


@pytest.mark.parametrize(
    "entities",
    [
        [("X", (A, B))],
        [("X", (A, B)), ("X", (A, C))],
        [("X", (A, B)), ("X", (A, C)), ("X", (D, (8, 9)))],
        [("X", (A, C)), ("X", (B, C)), ("X", (A, D)), ("X", (B, D))],  # pain and stiffness in knees and hands
        [("X", (A, B, C))],
        [("X", (A,)), ("X", (A, B))],
        [("X", (A,)), ("X", (A, B, C)), ("X", (A,))],
        [("X", (A, B)), ("Y", (A, C))],
        [("X", ((0, 3),)), ("X", ((1, 2),))],
        [("X", (A,)), ("X", (A,))],
    ],
)
def test_entities_that_fragments_can_say_come_back(entities: list[Key]) -> None:
    rebuilt = rebuild(*take_apart(entities))
    assert sorted(rebuilt.entities) == sorted(entities)
    assert rebuilt.n_doubtful == 0


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        ([("X", (A, B)), ("X", (B, C)), ("X", (A, C))], [("X", (A, B, C))]),
        ([("X", (A, B)), ("X", (A, B))], [("X", (A, B))]),
        ([("X", (A, B)), ("Y", (A,)), ("Y", (B,))], [("X", (A, B)), ("Y", (A, B))]),
    ],
)
def test_entities_with_two_readings_are_doubtful(entities: list[Key], expected: list[Key]) -> None:
    rebuilt = rebuild(*take_apart(entities))
    assert rebuilt.entities == expected
    assert rebuilt.n_doubtful == len(expected)


def test_three_fragments_listed_too_seldom_are_doubtful() -> None:
    combined: list[Relation] = [(a, b, "Combined") for a, b in ((A, B), (B, C), (A, C), (A, D))]
    rebuilt = rebuild([(span, "X") for span in (A, B, C, D)], combined)
    assert rebuilt.entities == [("X", (A, B, C)), ("X", (A, D))]
    assert rebuilt.n_doubtful == 1


def test_relations_that_join_nothing_are_left_out() -> None:
    fragments = [(A, "X"), (B, "Y"), ((0, 3), "X")]
    relations: list[Relation] = [
        (A, B, "Combined"),  # different labels
        (A, (0, 3), "Combined"),  # no token between
        (A, D, "Combined"),  # no such fragment
        (A, (0, 3), "Overlap"),
    ]
    rebuilt = rebuild(fragments, relations)
    assert rebuilt.entities == [("X", (A,)), ("Y", (B,)), ("X", ((0, 3),))]
    assert rebuilt.n_unused == 3


def test_fragments_and_relations_are_in_sodners_order() -> None:
    fragments, relations = take_apart([("X", (A, C)), ("X", ((0, 2),))])
    assert fragments == [(A, "X"), (C, "X"), ((0, 2), "X")]
    assert relations == [
        (A, (0, 2), "Overlap"),
        (A, C, "Combined"),
        (C, A, "Combined"),
        ((0, 2), A, "Overlap"),
    ]


@st.composite
def forests(draw: st.DrawFn) -> list[int]:
    """Heads of up to eight tokens, without a circle, in any order."""
    n_tokens = draw(st.integers(0, 8))
    order = draw(st.permutations(range(n_tokens)))
    heads = [-1] * n_tokens
    for place in range(1, n_tokens):
        heads[order[place]] = draw(st.sampled_from([-1, *order[:place]]))
    return heads


@given(heads=forests())
def test_a_graph_read_and_written_again_is_the_same(heads: list[int]) -> None:
    neighbours = to_neighbours(heads)
    read_back = to_heads(neighbours)
    assert read_back is not None
    assert to_neighbours(read_back) == neighbours


@pytest.mark.parametrize(
    "neighbours",
    [
        [[1, 2], [0, 2], [0, 1]],  # a circle
        [[1], []],  # an arc at one end only
        [[1, 1], [0, 0]],
        [[0]],
        [[5]],
    ],
)
def test_what_is_no_tree_has_no_heads(neighbours: list[list[int]]) -> None:
    assert to_heads(neighbours) is None


def test_the_order_of_neighbours_tells_the_root() -> None:
    heads = [1, 4, 1, 4, -1, 4, 7, 4]
    assert to_heads(to_neighbours(heads)) == tuple(heads)
