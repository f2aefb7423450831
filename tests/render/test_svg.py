from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from disconer.core.types import Document, Entity
from disconer.render import render
from render.pictures import ACROSS_LINES, GOLDEN, HOSTILE, PARSED, SCRIPTS, THREE_FRAGMENTS, pictures
from strategies import documents

NAMESPACE = "{http://www.w3.org/2000/svg}"
COLUMN = 9


def groups(document: Document) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(render(document, format="svg"))
    return root.findall(f"{NAMESPACE}g[@class]")


def bars(group: ElementTree.Element) -> list[tuple[float, float]]:
    """The columns of the thick bars of a mark."""
    path = "".join(one.get("d", "") for one in group.findall(f"{NAMESPACE}path[@class='b']"))
    return [(float(a) / COLUMN, float(b) / COLUMN) for a, b in re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", path)]


@pytest.mark.parametrize("name", [path.stem for path in sorted(GOLDEN.glob("*.svg"))])
def test_golden_pictures(name: str) -> None:
    assert pictures()[name] == (GOLDEN / f"{name}.svg").read_text("utf-8")


def test_bars_stand_under_their_fragments() -> None:
    (group,) = groups(THREE_FRAGMENTS)
    assert bars(group) == [(4, 10), (17, 25), (37, 46)]
    assert [one.text for one in group.findall(f"{NAMESPACE}text")] == ["Disorder"]


def test_a_mark_goes_on_in_the_next_line_with_its_caption() -> None:
    captions = [[one.text for one in group.findall(f"{NAMESPACE}text")] for group in groups(ACROSS_LINES)]
    assert captions == [["ADR", "…ADR"]] * 4 + [["Drug"]]


def test_right_to_left_text_is_placed_as_it_is_seen() -> None:
    first_line = "שלום עולם טוב מאוד hello 12 mg"
    hebrew_and_latin, hebrew = groups(SCRIPTS)[:2]
    assert bars(hebrew_and_latin) == [(0, 8), (17, 25)]  # "hello 12 mg" is leftmost, then the Hebrew words backwards
    assert bars(hebrew) == [(12, 16)]
    assert len(first_line) == 30


def test_half_a_character_has_the_bar_of_the_whole() -> None:
    wide, emoji, accent = groups(SCRIPTS)[2:5]
    assert (bars(wide), bars(emoji), bars(accent)) == ([(2, 6)], [(7, 9)], [(13, 14)])


def test_arcs_go_from_heads_to_words() -> None:
    picture = render(PARSED, format="svg", arcs=True)
    assert picture.count('class="v"') == len((PARSED.sentences or ())[0].tokens)
    assert ">advmod<" in picture
    assert 'class="v"' not in render(PARSED, format="svg")


def test_text_without_heads_is_drawn_between_sentences_with_them() -> None:
    text = f"No heads here. {PARSED.text}\n\nNor here."
    sentence = (PARSED.sentences or ())[0]
    shift = text.index(PARSED.text)
    tokens = tuple((start + shift, end + shift) for start, end in sentence.tokens)
    moved = type(sentence)(shift, shift + len(PARSED.text), tokens, sentence.heads)
    picture = render(Document("d", text, sentences=(moved,)), format="svg", arcs=True)
    root = ElementTree.fromstring(picture)
    assert [one.text for one in root.findall(f"{NAMESPACE}text")][0::12] == ["No heads here.", "Nor here."]


def test_hostile_text_stays_text() -> None:
    picture = render(HOSTILE, format="svg")
    root = ElementTree.fromstring(picture)
    tags = {element.tag.removeprefix(NAMESPACE) for element in root.iter()}
    assert tags == {"svg", "style", "rect", "text", "g", "title", "path"}
    shown = "".join(one.text or "" for one in root.findall(f"{NAMESPACE}text"))
    assert shown == '<script>alert(1)</script> & "quotes" </title></svg>␀␛\ufffd\ufffd'


def test_themes() -> None:
    assert "prefers-color-scheme" in render(THREE_FRAGMENTS, format="svg")
    assert "prefers-color-scheme" not in render(THREE_FRAGMENTS, format="svg", theme="dark")


def test_more_entities_than_lanes_are_counted() -> None:
    crowd = Document("d", "word", tuple(Entity(f"L{number}", ((0, 4),)) for number in range(40)))
    assert "+ 10 more entities here" in render(crowd, format="svg")


@settings(max_examples=60)
@given(document=documents())
def test_any_document_is_well_formed_and_has_a_group_for_each_visible_entity(document: Document) -> None:
    drawn = groups(document)
    visible = [entity for entity in document.entities if entity.text.strip()]
    assert len(visible) <= len(drawn) <= len(document.entities)
