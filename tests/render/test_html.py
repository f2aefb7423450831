from __future__ import annotations

from hypothesis import given, settings

from disconer.core.types import Document, Entity
from disconer.render import render, render_fragment
from disconer.render.lines import text_lines
from disconer.render.stylesheet import escaped
from render.parsed_html import Element, parsed
from render.pictures import ACROSS_LINES, DOCUMENTS, HOSTILE, NESTED, PARSED, PREDICTED, THREE_FRAGMENTS
from strategies import documents


def lines(document: Document) -> list[Element]:
    return parsed(render(document)).all("div", "line")


def fragments(line: Element, number: int) -> list[str]:
    """The texts over the bars of an entity."""
    return [one.text for one in line.all(name="f") if one.attributes["data-e"] == str(number)]


def test_three_fragments_with_gaps_between_them() -> None:
    (line,) = lines(THREE_FRAGMENTS)
    assert fragments(line, 0) == ["mitral", "leaflets", "thickened"]
    assert [one.text for one in line.all(name="g")] == [" valve ", " are mildly "]
    assert [one.attributes["data-l"] for one in line.all() if "data-l" in one.attributes] == ["Disorder"]
    assert [one.text for one in line.all() if one.classes >= {"h"}] == ["mitral"]
    assert [one.text for one in line.all() if one.classes >= {"z"}] == ["thickened"]


def test_the_inner_entity_lies_nearer_to_the_text() -> None:
    (line,) = lines(NESTED)
    assert (fragments(line, 0), fragments(line, 1)) == (["Pennsylvania"], ["Pennsylvania", " radio station"])
    outer, inner, text = line.all("span")[:3]
    assert (outer.attributes["data-e"], "a0" in outer.classes) == ("0", True)  # lane 0 is next to the text
    assert (inner.attributes["data-e"], "b1" in inner.classes, "r1" in text.classes) == ("1", True, True)


def test_an_entity_goes_on_in_the_next_line() -> None:
    first, empty, second, _ = lines(ACROSS_LINES)
    assert (first.text, empty.text, second.text) == ("Severe pain and swelling", "", "of knees and hands")
    assert [one.attributes["data-l"] for one in first.all() if "data-l" in one.attributes] == ["ADR"] * 4
    assert [one.attributes["data-l"] for one in second.all() if "data-l" in one.attributes] == ["… ADR"] * 4
    assert not any(one.classes >= {"z"} for one in first.all())


def test_each_entity_can_be_focused_once_and_says_all() -> None:
    described = [one for line in lines(ACROSS_LINES) for one in line.all() if "tabindex" in one.attributes]
    assert sorted(one.attributes["data-e"] for one in described) == ["0", "1", "2", "3", "4"]
    names = {one.attributes["aria-label"] for one in described}
    assert "ADR: “pain … knees”, discontinuous, characters 7–11 and 29–34" in names


def test_a_comparison_shows_both_sides_of_every_error() -> None:
    page = parsed(render(PREDICTED, ACROSS_LINES))
    captions = [one.attributes["data-l"] for one in page.all() if "data-l" in one.attributes]
    assert "− ADR missing fragment" in captions
    assert "+ ADR missing fragment" in captions
    assert "− Drug wrong type" in captions
    assert "+ Lab wrong type" in captions
    assert page.all("p", "head")[0].text == "across-lines · 1 right, 4 missed (−), 2 wrong (+)"
    assert {"right", "missed", "wrong"} <= {name for one in page.all(name="e") for name in one.classes}


def test_markup_in_text_labels_and_ids_stays_text() -> None:
    page = parsed(render(HOSTILE))
    assert {one.tag for one in page.all()} == {
        *("html", "head", "meta", "title", "style", "body", "div", "p", "span", "script")
    }
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert HOSTILE.id in page.text
    (line,) = page.all("div", "line")
    assert line.text == '<script>alert(1)</script> & "quotes" </title></svg>␀␛\ufffd\ufffd'


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = render([*DOCUMENTS, HOSTILE])
    assert not any(word in page for word in ("http", "src=", "href", "@import", "url("))


def test_one_page_for_many_documents() -> None:
    heads = [one.text for one in parsed(render(DOCUMENTS)).all("p", "head")]
    assert heads[:2] == ["nested · 2 entities: 2 overlapped", "three-fragments · 1 entity: 1 discontinuous"]
    assert len(heads) == len(DOCUMENTS)
    assert parsed(render([])).all("div") == []


def test_arcs_are_drawn_as_svg() -> None:
    (picture,) = parsed(render(PARSED, arcs=True)).all("svg")
    assert [one.text for one in picture.all("text", "r")].count("amod") == 3


def test_more_entities_than_lanes_are_counted() -> None:
    crowd = Document("d", "word", tuple(Entity(f"L{number}", ((0, 4),)) for number in range(40)))
    (line,) = lines(crowd)
    assert line.all(name="more")[0].text == " + 10 more entities here"


def test_entities_that_share_only_what_has_no_width_are_drawn() -> None:
    accent = "\u0301"  # after a tab, it is a character of its own
    document = Document("d", f"\t{accent}", (Entity("A", ((1, 2),)), Entity("B", ((0, 2),))))
    (line,) = lines(document)
    assert fragments(line, 0) == [accent]
    assert "".join(fragments(line, 1)) == document.text


def test_notebooks_show_documents() -> None:
    shown = parsed(THREE_FRAGMENTS._repr_html_())
    assert shown.all("div", "line")[0].text == THREE_FRAGMENTS.text
    assert [one.tag for one in shown.children] == ["style", "div", "script"]
    assert render_fragment(THREE_FRAGMENTS) == THREE_FRAGMENTS._repr_html_()


@settings(max_examples=60)
@given(document=documents())
def test_any_text_is_whole_and_bars_stand_under_their_fragments(document: Document) -> None:
    drawn = lines(document)
    stretches = list(text_lines(document.text))
    assert [parsed(escaped(document.text[start:end])).text for start, end in stretches] == [one.text for one in drawn]
    for number, entity in enumerate(document.entities):
        shown = "".join(text for line in drawn for text in fragments(line, number))
        whole = "".join("".join(document.text[start:end].splitlines()) for start, end in entity.fragments)
        assert all(shown.count(character) >= whole.count(character) for character in whole if character.isalnum())
