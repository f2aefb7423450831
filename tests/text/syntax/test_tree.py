from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.text.syntax.parser import CIRCLE, OUT_OF_RANGE, OWN_HEAD, WRONG_COUNT, Tree, depths_of, fault_in


@pytest.mark.parametrize(
    ("heads", "fault"),
    [
        ((1, -1, 1), None),
        ((), None),
        ((-1, -1, 1), None),  # several roots are a forest
        ((1, -1), WRONG_COUNT),
        ((1, -1, 3), OUT_OF_RANGE),
        ((1, -2, 1), OUT_OF_RANGE),
        ((0, -1, 1), OWN_HEAD),
        ((1, 2, 0), CIRCLE),
        ((-1, 2, 1), CIRCLE),
    ],
)
def test_faults(heads: tuple[int, ...], fault: str | None) -> None:
    assert fault_in(heads, 3 if heads else 0) == fault


def test_roots_are_counted() -> None:
    assert Tree((-1, 0, -1), ("root", "dep", "root")).n_roots == 2


@given(st.lists(st.integers(-1, 8), max_size=9).filter(lambda heads: all(head < len(heads) for head in heads)))
def test_depths_are_known_exactly_where_every_word_comes_to_a_root(heads: list[int]) -> None:
    def steps(word: int) -> int | None:
        for step in range(len(heads) + 1):
            if word == -1:
                return step - 1
            word = heads[word]
        return None

    expected = [steps(word) for word in range(len(heads))]
    assert depths_of(heads) == (None if None in expected else expected)


def test_a_long_chain_is_no_trouble() -> None:
    n = 20_000
    assert depths_of([*range(1, n), -1]) == list(range(n - 1, -1, -1))
