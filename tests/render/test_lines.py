from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from disconer.core.types import Document
from disconer.render.clusters import columns
from disconer.render.lines import Line, Piece, lines, pack, text_lines, wrapped_lines
from strategies import documents, texts

TEXT = "The mitral valve leaflets\nare mildly thickened."
MITRAL = [(4, 10), (17, 25), (37, 46)]


def test_an_entity_goes_on_in_the_next_line() -> None:
    first, second = lines(TEXT, [MITRAL], text_lines(TEXT))
    assert first == Line(0, 25, [Piece(0, ((4, 10), (17, 25)), 4, 25, from_before=False, goes_on=True)])
    assert second == Line(26, 47, [Piece(0, ((37, 46),), 26, 46, from_before=True, goes_on=False)])


def test_a_line_within_a_gap_has_a_piece_without_fragments() -> None:
    _, second, _ = lines("a\nb\nc", [[(0, 1), (4, 5)]], text_lines("a\nb\nc"))
    assert second.pieces == [Piece(0, (), 2, 3, from_before=True, goes_on=True)]


def test_a_line_break_within_a_fragment_opens_both_sides() -> None:
    first, second = lines("ab\r\ncd", [[(1, 5)]], text_lines("ab\r\ncd"))
    assert first.pieces == [Piece(0, ((1, 2),), 1, 2, from_before=False, goes_on=True)]
    assert second.pieces == [Piece(0, ((4, 5),), 4, 5, from_before=True, goes_on=False)]


def test_the_inner_entity_chooses_its_lane_first() -> None:
    (line,) = lines("a b c d", [[(0, 7)], [(2, 3)], [(0, 1), (6, 7)]], text_lines("a b c d"))
    assert [piece.number for piece in line.pieces] == [1, 0, 2]


def test_lines_are_cut_between_words() -> None:
    assert [TEXT[start:end] for start, end in wrapped_lines(TEXT, 12)] == [
        "The mitral ",
        "valve ",
        "leaflets",
        "are mildly ",
        "thickened.",
    ]


def test_long_words_and_wide_characters_are_cut_where_they_may_be() -> None:
    text = "日本語e\u0301e\u0301e\u0301"
    assert [text[start:end] for start, end in wrapped_lines(text, 3)] == ["日", "本", "語e\u0301", "e\u0301e\u0301"]
    assert list(wrapped_lines("👩\u200d👩", 1)) == [(0, 3)]


@given(text=texts, width=st.integers(1, 12))
def test_wrapped_lines_lose_only_line_breaks_and_fit(text: str, width: int) -> None:
    stretches = list(wrapped_lines(text, width))
    assert "".join(text[start:end] for start, end in stretches) == "".join(text.splitlines())
    for start, end in stretches:
        shown = text[start:end].rstrip(" \t")
        assert columns(shown)[-1] <= width or len({*columns(shown)}) == 2  # one character that is wider than a line


@given(document=documents(), width=st.integers(1, 12))
def test_every_character_of_a_fragment_is_in_a_piece(document: Document, width: int) -> None:
    entities = [entity.fragments for entity in document.entities]
    drawn: dict[int, set[int]] = {number: set() for number in range(len(entities))}
    for line in lines(document.text, entities, wrapped_lines(document.text, width)):
        for piece in line.pieces:
            assert line.start <= piece.start < piece.end <= line.end
            for start, end in piece.fragments:
                assert piece.start <= start < end <= piece.end
                drawn[piece.number].update(range(start, end))
    for number, fragments in enumerate(entities):
        shown = {place for start, end in fragments for place in range(start, end) if document.text[place].isprintable()}
        assert shown <= drawn[number]


# Lanes


reaches = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def test_crossing_entities_take_two_lanes() -> None:
    assert sorted(lane or 0 for lane in pack([(0, 10), (5, 15)])) == [0, 1]


def test_what_has_no_lane_is_left_out() -> None:
    assert pack([(0, 5)] * 4, max_lanes=3).count(None) == 1


@given(st.lists(reaches, max_size=20))
def test_no_two_in_a_lane_meet_and_no_lane_is_skipped(reaches: list[tuple[int, int]]) -> None:
    lanes = pack(reaches)
    for one, (start, end) in enumerate(reaches):
        others = [reaches[other] for other in range(one) if lanes[other] == lanes[one]]
        assert all(end <= other_start or other_end <= start for other_start, other_end in others)
        in_its_way = {lanes[other] for other in range(one) if reaches[other][0] < end and start < reaches[other][1]}
        assert in_its_way >= set(range(lanes[one] or 0))
