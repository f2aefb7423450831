"""What people see, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsing import Complaints, chromium
from disconer.core.types import Document, Entity
from disconer.render import render
from render.pictures import ACROSS_LINES, DOCUMENTS, HOSTILE, PARSED, PREDICTED, THREE_FRAGMENTS

pytestmark = pytest.mark.slow

# Short words with long captions, side by side: what must not run into each other.
CROWDED = Document(
    "crowded",
    "PT is low, TB and MI or " * 12,
    tuple(
        Entity(label, ((24 * turn + start, 24 * turn + start + 2),))
        for turn in range(12)
        for label, start in (("Measurement", 0), ("Infectious_disease", 11), ("Condition", 18))
    ),
)

# For each caption: the top of its bar, and from where to where it goes. A caption is no element, so it is measured.
CAPTIONS = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  return [...document.querySelectorAll("[data-l]")].map((part) => {
    const style = getComputedStyle(part, "::before");
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const box = part.getClientRects()[0];
    return [Math.round(box.top), box.left, box.left + pen.measureText(part.dataset.l).width];
  });
}"""
# For each fragment: whether its bar spans exactly its text, and hangs below it.
BARS = """() => [...document.querySelectorAll(".f")].flatMap((part) => {
  const range = document.createRange();
  range.selectNodeContents(part.querySelector(".t"));
  const sides = (boxes) => [Math.min(...boxes.map((box) => box.left)), Math.max(...boxes.map((box) => box.right))];
  const text = [...range.getClientRects()].filter((box) => box.width), bar = [...part.getClientRects()];
  const [[a, b], [c, d]] = [sides(text.length ? text : bar), sides(bar)];
  return [Math.abs(a - c) < 1 && Math.abs(b - d) < 1 && bar.at(-1).top > text.at(-1)?.top + 15];
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a page, and checks when the test ends that it had nothing to complain about."""
    opened = []

    def opener(content: str, suffix: str = ".html", **options: Any) -> Any:
        path = tmp_path / f"page{suffix}"
        path.write_text(content, "utf-8")
        page = browser.new_page(**options)
        opened.append((page, Complaints(page)))
        page.goto(path.as_uri())
        return page

    yield opener
    for page, complaints in opened:
        page.close()
        assert complaints == []


def test_pages_load_without_complaint(show: Any) -> None:
    for content in (
        render([*DOCUMENTS, HOSTILE]),
        render(PREDICTED, ACROSS_LINES),
        render([PARSED, HOSTILE], arcs=True),
        THREE_FRAGMENTS._repr_html_(),
    ):
        assert show(content).evaluate("document.compatMode") in ("CSS1Compat", "BackCompat")


@pytest.mark.parametrize("width", [900, 300])
def test_bars_span_their_text_in_any_script(show: Any, width: int) -> None:
    bars = show(render(DOCUMENTS), viewport={"width": width, "height": 700}).evaluate(BARS)
    assert len(bars) > 20
    assert all(bars)


@pytest.mark.parametrize("width", [900, 400])
def test_captions_do_not_run_into_each_other(show: Any, width: int) -> None:
    captions = show(render([*DOCUMENTS, CROWDED]), viewport={"width": width, "height": 700}).evaluate(CAPTIONS)
    assert len(captions) > 40
    for top, left, right in captions:
        others = [one for one in captions if one[0] == top and one != [top, left, right]]
        assert all(right <= other_left or other_right <= left for _, other_left, other_right in others)


def test_pointer_and_focus_light_up_all_fragments(show: Any) -> None:
    page = show(render(THREE_FRAGMENTS))
    page.hover("text=leaflets")
    assert page.locator(".f.on").all_inner_texts() == ["mitral", "leaflets", "thickened"]
    assert page.locator(".f.on").first.get_attribute("title").startswith("Disorder: “mitral … leaflets … thickened”")
    page.hover(".head")
    assert page.locator(".on").count() == 0
    page.keyboard.press("Tab")
    assert page.locator(".f.on").count() == 3
    page.evaluate("document.activeElement.blur()")
    assert page.locator(".on").count() == 0


def test_svg_lights_up_without_a_script(show: Any) -> None:
    page = show(render(THREE_FRAGMENTS, format="svg"), suffix=".svg")
    tints = "[...document.querySelectorAll('.t')].map((tint) => getComputedStyle(tint).opacity)"
    assert page.evaluate(tints) == ["0", "0", "0"]
    page.keyboard.press("Tab")
    assert page.evaluate(tints) == ["0.22", "0.22", "0.22"]


def test_text_can_be_copied_without_captions(show: Any) -> None:
    page = show(render(ACROSS_LINES))
    copied = page.evaluate("(getSelection().selectAllChildren(document.body), getSelection().toString())")
    assert ACROSS_LINES.text in copied.replace("\n\n\n", "\n\n")


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")])
def test_light_and_dark(show: Any, scheme: str, paper: str) -> None:
    page = show(render(THREE_FRAGMENTS), color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == paper
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_a_megabyte_opens_in_seconds(show: Any) -> None:
    text = "the patient has severe pain in the left knee and hand " * 19_000
    entities = tuple(
        Entity("Disorder", ((start + 16, start + 27), (start + 44, start + 48))) for start in range(0, len(text), 540)
    )
    page = show(render(Document("long", text, entities)))
    page.set_default_timeout(20_000)
    assert page.locator("[tabindex]").count() == len(entities)
