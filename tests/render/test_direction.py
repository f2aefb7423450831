from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.render.clusters import runs_right_to_left, visual_order


def seen(text: str) -> str:
    parts = text.split("|")
    return "|".join(parts[number] for number in visual_order(parts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one| |two", "one| |two"),
        ("אב| |גד", "גד| |אב"),
        ("one| |אב| |גד| |two", "one| |גד| |אב| |two"),
        ("אב| |one| |two| |גד", "גד| |one| |two| |אב"),
        ("אב| |one| |12| |גד", "גד| |one| |12| |אב"),
        ("אב| |12| |גד", "גד| |12| |אב"),
        ("one|, |אב|.", "one|, |אב|."),
        ("(|אב|)", ")|אב|("),
    ],
)
def test_parts_from_left_to_right(text: str, expected: str) -> None:
    assert seen(text) == expected


def test_a_line_runs_as_its_first_letter() -> None:
    assert runs_right_to_left("12 אב one")
    assert not runs_right_to_left("one אב")
    assert not runs_right_to_left("12 – 13")


@given(st.lists(st.sampled_from(["a", "ב", "1", " ", ","])))
def test_every_part_is_seen_once(parts: list[str]) -> None:
    assert sorted(visual_order(parts)) == list(range(len(parts)))
