from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.render.clusters import columns, is_boundary, outward, runs_right_to_left, visual_order
from strategies import texts

FAMILY = "👩\u200d👩\u200d👧"
THUMB = "👍🏽"
FLAGS = "🇩🇪🇫🇷"


@pytest.mark.parametrize(
    ("text", "boundaries"),
    [
        ("ab", [0, 1, 2]),
        ("e\u0301x", [0, 2, 3]),
        ("का", [0, 2]),
        (f"{FAMILY}!", [0, 5, 6]),
        (f"{THUMB}!", [0, 2, 3]),
        (FLAGS, [0, 2, 4]),
        ("a\r\nb", [0, 1, 3, 4]),
        ("a\n\u0301", [0, 1, 2, 3]),
        ("\u1100\u1161\u11a8", [0, 3]),
    ],
)
def test_where_text_may_be_cut(text: str, boundaries: list[int]) -> None:
    assert [offset for offset in range(len(text) + 1) if is_boundary(text, offset)] == boundaries


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("日本", 4),
        ("e\u0301", 1),
        (FAMILY, 2),
        (THUMB, 2),
        (FLAGS, 4),
        ("❤\ufe0f", 2),
        ("\t", 4),
        ("שלום", 4),
    ],
)
def test_widths(text: str, width: int) -> None:
    assert columns(text)[-1] == width


def test_half_a_character_is_widened_to_the_whole() -> None:
    assert outward("xe\u0301x", 2, 3) == (1, 3)
    assert outward(FLAGS, 1, 3) == (0, 4)


def test_a_text_of_flags_takes_no_longer_than_another() -> None:
    assert [place for place in range(81) if is_boundary("🇩" * 80, place)] == [*range(0, 64, 2), *range(64, 81)]
    start = time.process_time()
    columns("🇩" * 20_000)
    assert time.process_time() - start < 5  # 30 s, where each looked back to the first


@given(text=texts)
def test_columns_never_go_back_and_stand_still_within_a_character(text: str) -> None:
    places = columns(text)
    assert len(places) == len(text) + 1
    assert places == sorted(places)
    for offset in range(1, len(text)):
        if not is_boundary(text, offset):
            assert places[offset] == places[offset - 1]


# Direction


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
