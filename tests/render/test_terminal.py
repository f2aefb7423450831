from __future__ import annotations

import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from disconer import Document, Entity
from disconer.render.clusters import columns, outward
from disconer.render.lines import lines, wrapped_lines
from disconer.render.terminal import FRAGMENT, MAX_LANES, View
from strategies import documents

TEXT = "Pain and stiffness in my knees after aspirin."
DOCUMENT = Document(
    "a",
    TEXT,
    (
        Entity("ADR", ((0, 4), (25, 30)), score=0.934),
        Entity("ADR", ((9, 30),), score=0.88),
        Entity("Drug", ((37, 44),), score=0.99),
    ),
)


def shown(document: Document, *, width: int = 80, heading: str = "") -> list[str]:
    return [line.plain for line in View(width=width)(document, heading=heading)]


def test_a_document() -> None:
    assert shown(DOCUMENT, heading="notes/a") == [
        "notes/a",
        "Pain and stiffness in my knees after aspirin.",
        "         ━━━━━━━━━━━━━━━━━━━━━ ADR   ━━━━━━━ Drug",
        "━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄━━━━━ ADR",
        "",
        "ADR   discontinuous  Pain … knees           0–4, 25–30  0.93",
        "ADR   overlapped     stiffness in my knees  9–30        0.88",
        "Drug  regular        aspirin                37–44       0.99",
    ]


def test_without_entities_and_without_text() -> None:
    assert shown(Document("a", "Nothing.\n\nAt all.")) == ["Nothing.", "", "At all.", "", "no entities"]
    assert shown(Document("a", "")) == ["", "no entities"]


def test_an_entity_over_several_lines_is_drawn_in_each() -> None:
    assert shown(DOCUMENT, width=20)[:8] == [
        "Pain and stiffness",
        "         ━━━━━━━━━━ ADR",
        "━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ ADR",
        "in my knees after",
        "┄┄┄┄┄┄━━━━━ ADR",
        "━━━━━━━━━━━ ADR",
        "aspirin.",
        "━━━━━━━ Drug",
    ]


def test_wide_and_combining_characters_take_their_columns() -> None:
    text = "日本 e\u0301 pain"
    document = Document("a", text, (Entity("X", ((0, 2),)), Entity("Y", ((3, 5),)), Entity("Z", ((6, 10),))))
    assert shown(document)[:3] == [text, "━━━━ X ━━━━ Z", "     ━ Y"]


def test_labels_do_not_run_into_the_next_entity() -> None:
    document = Document(
        "a", "a b c", (Entity("A long label", ((0, 1),)), Entity("B", ((2, 3),)), Entity("C", ((4, 5),)))
    )
    assert shown(document)[1:4] == ["━ A long label", "  ━ B", "    ━ C"]


def test_nothing_reaches_the_terminal_that_would_move_or_colour_it() -> None:
    text = "a\x1b[31m\x07\r\x9b\ud800\u202eb\tc"
    document = Document("\x1b]0;title\x07", text, (Entity("L\x1b[0m", ((0, len(text)),)),))
    everything = "".join(shown(document, heading=document.id))
    assert not {character for character in everything if not character.isprintable()}
    assert "a␛[31m␇" in everything


def test_long_texts_are_shortened_in_the_list() -> None:
    document = Document("a", "x" * 500, (Entity("X", ((0, 500),)),))
    assert shown(document, width=100)[-1] == f"X  regular  {'x' * 59}…  0–500"


def test_many_entities_of_one_place_are_counted() -> None:
    entities = [Entity(f"L{number}", ((0, 4),)) for number in range(MAX_LANES + 10)]
    assert "and 10 more" in shown(Document("a", "pain", tuple(entities)))


def runs(numbers: list[int]) -> list[list[int]]:
    """Consecutive numbers together."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


@settings(max_examples=200)
@example(document=Document("a", "0\x1b\xad", (Entity("ADR", ((0, 3),)),)), width=1)
@given(document=documents(), width=st.integers(1, 30))
def test_the_columns_of_fragments_are_marked_and_no_others(document: Document, width: int) -> None:
    text = document.text
    for entity in document.entities:
        alone = document.replace(entities=(Entity("L", entity.fragments),))
        covered = {place for fragment in entity.fragments for place in range(*outward(text, *fragment))}
        for line in lines(text, [entity.fragments], wrapped_lines(text, width)):
            places = columns(text[line.start : line.end])
            wanted: set[int] = set()
            for run in runs(sorted(covered & set(range(line.start, line.end)))):
                first, last = places[run[0] - line.start], places[run[-1] + 1 - line.start]
                wanted.update(range(first, max(last, first + 1)))  # even what has no width is seen
            drawn = "".join(lane.plain for lane in View(width=width)._lanes(alone, line))
            assert {column for column, mark in enumerate(drawn) if mark == FRAGMENT} == wanted


@pytest.mark.parametrize("colour", [True, False])
def test_colours(colour: bool) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=colour, color_system="standard" if colour else None, width=80)
    for line in View(width=80, labels=["Drug"])(DOCUMENT):
        console.print(line, soft_wrap=True)
    assert ("\x1b[36m━━━━━━━ Drug" in stream.getvalue()) is colour
    assert ("\x1b" in stream.getvalue()) is colour
