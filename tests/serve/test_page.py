"""The page in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from serve.browser import open_browser, open_page
from serve.fakes import Running, WordFinder, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.slow

TEXT = "renal or hepatic impairment 😀 aspirin"
ATTACK = '</textarea><img src=x onerror="alert(1)"><script>alert(2)</script> pain'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def finder() -> WordFinder:
    return WordFinder()


@pytest.fixture
def service(finder: WordFinder, browser: Browser) -> Iterator[Running]:
    with running(finder, text_characters=500) as started:
        yield started
        finder.may_go_on.set()


@pytest.fixture
def page(browser: Browser, service: Running) -> Iterator[Page]:
    with open_page(browser, service.url, permissions=["clipboard-read", "clipboard-write"]) as opened:
        opened.set_default_timeout(30_000)
        yield opened


def text_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Text", exact=True)


def write(page: Page, text: str) -> None:
    text_box(page).fill(text)


def await_status(page: Page, part: str) -> None:
    page.get_by_role("status").filter(has_text=part).wait_for()


def rows(page: Page) -> list[list[str]]:
    return [row.locator("td").all_inner_texts() for row in page.locator("#rows tr").all()]


def test_entities_are_drawn_and_listed(page: Page) -> None:
    write(page, TEXT)
    await_status(page, "4 entities (1 discontinuous, 2 overlapped, 1 regular)")
    assert rows(page)[0] == ["Condition", "renal … impairment", "discontinuous", "0–5, 17–27", "0.30"]
    assert rows(page)[-1][:4] == ["Drug", "aspirin", "regular", "30–37"]
    drawing = page.locator("#drawing .disconer")
    assert drawing.locator(".line").inner_text() == TEXT
    notes = [note.get_attribute("aria-label") or "" for note in drawing.get_by_role("note").all()]
    assert any(note.startswith("Condition: “renal … impairment”, discontinuous") for note in notes)


def test_hovering_lights_up_all_fragments_and_the_row(page: Page) -> None:
    write(page, TEXT)
    await_status(page, "4 entities")
    page.locator("#drawing .t", has_text="renal").hover()
    page.wait_for_selector("#rows tr.on")
    lit = page.locator("#drawing .on.f .t")
    assert "".join(lit.all_inner_texts()).replace(" ", "") == "renalimpairment"
    assert page.locator("#rows tr.on td.text").inner_text() == "renal … impairment"
    page.locator("#rows tr", has_text="aspirin").hover()
    page.wait_for_function("document.querySelectorAll('#drawing .on.f').length === 1")
    assert page.locator("#drawing .on.f .t").inner_text() == "aspirin"


def test_the_keyboard_reaches_entities(page: Page) -> None:
    write(page, "aspirin for pain")
    await_status(page, "2 entities")
    page.locator("#threshold").focus()
    page.keyboard.press("Tab")
    assert (page.evaluate("document.activeElement.getAttribute('aria-label')")).startswith("Drug: “aspirin”")
    page.wait_for_selector("#rows tr.on")
    page.keyboard.press("Tab")
    assert (page.evaluate("document.activeElement.getAttribute('aria-label')")).startswith("Condition: “pain”")


def test_labels_filter(page: Page) -> None:
    write(page, TEXT)
    await_status(page, "4 entities")
    page.locator(".chip", has_text="Condition").click()
    await_status(page, "1 entity (1 regular) · 3 filtered out")
    assert [row[0] for row in rows(page)] == ["Drug"]
    page.get_by_role("button", name="none").click()
    await_status(page, "0 entities · 4 filtered out")
    assert page.get_by_text("No entities.").is_visible()
    page.get_by_role("button", name="all").click()
    await_status(page, "4 entities")
    page.get_by_role("checkbox", name="Drug").press(" ")
    await_status(page, "3 entities")


def test_threshold_filters_and_kinds_follow(page: Page, finder: WordFinder) -> None:
    write(page, TEXT)
    await_status(page, "4 entities")
    asked = len(finder.batches)
    page.get_by_label("Score at least").fill("0.7")
    await_status(page, "2 entities (2 regular) · 2 filtered out")
    assert rows(page)[0] == ["Condition", "hepatic impairment", "regular", "9–27", "0.80"]
    assert len(finder.batches) == asked  # the model had no part in it


def test_only_the_latest_text_is_shown(page: Page, finder: WordFinder) -> None:
    await_status(page, "entities")
    finder.started.clear()
    finder.may_go_on.clear()
    write(page, "pain pain pain")
    assert finder.started.wait(10)
    write(page, "aspirin")
    page.wait_for_timeout(400)
    finder.may_go_on.set()
    await_status(page, "1 entity")
    page.wait_for_timeout(200)
    assert [row[1] for row in rows(page)] == ["aspirin"]


def test_typing_asks_once_it_pauses(page: Page, finder: WordFinder) -> None:
    await_status(page, "entities")
    before = len(finder.batches)
    write(page, "")
    text_box(page).press_sequentially("aspirin and statin", delay=10)
    await_status(page, "2 entities")
    assert len(finder.batches) <= before + 3


def test_examples(page: Page) -> None:
    examples = page.get_by_role("group", name="Examples").get_by_role("button")
    assert examples.count() >= 5
    for example in examples.all():
        example.click()
        page.wait_for_selector("#drawing:not([aria-busy])")
        assert example.get_attribute("aria-pressed") == "true"
        assert page.get_by_role("alert").is_hidden()


def test_attacks_stay_text(page: Page) -> None:
    write(page, ATTACK)
    await_status(page, "1 entity")
    assert page.locator("#drawing .line").inner_text() == ATTACK
    assert page.locator("#drawing img, #drawing script, #rows img").count() == 0
    page.wait_for_timeout(200)  # an alert would be a trouble of the page


def test_labels_and_models_are_text_as_well(browser: Browser) -> None:
    finder = WordFinder()
    finder.labels = (ATTACK, "Drug", "Condition")
    with running(finder, name=ATTACK) as service, open_page(browser, service.url) as page:
        await_status(page, "entities")
        assert page.locator(".chip").first.inner_text().strip() == ATTACK
        assert page.locator("img").count() == 1  # the page's own


def test_copies(page: Page) -> None:
    write(page, TEXT)
    await_status(page, "4 entities")
    page.get_by_role("button", name="Copy brat").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[0] == "T1\tCondition 0 5;17 27\trenal impairment"
    page.get_by_role("button", name="Copy JSON").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('{'))")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["text"] == TEXT
    assert copied["entities"][0]["fragments"] == [[0, 5], [17, 27]]


def test_files(page: Page, tmp_path: Path) -> None:
    note, latin, large = tmp_path / "note.txt", tmp_path / "latin.txt", tmp_path / "large.txt"
    note.write_text("fever and statin", "utf-8")
    latin.write_bytes("fièvre".encode("latin-1"))
    large.write_text("a" * 5000)
    chooser = page.locator("#file")
    chooser.set_input_files(note)
    await_status(page, "2 entities")
    assert text_box(page).input_value() == "fever and statin"
    chooser.set_input_files(latin)
    page.get_by_text("latin.txt is not UTF-8 text.").wait_for()
    chooser.set_input_files(large)
    page.get_by_text("large.txt is larger than 2,000 bytes.").wait_for()


def test_refusals_are_said_and_pass(page: Page) -> None:
    write(page, "a" * 501)
    alert = page.get_by_role("alert")
    page.get_by_text("501 characters, but the limit is 500").wait_for()
    assert page.locator("#text-hint.over").is_visible()
    write(page, "explode")
    page.get_by_text("The model failed on one of these texts").wait_for()
    write(page, "pain")
    await_status(page, "1 entity")
    assert alert.is_hidden()


def test_a_service_that_is_gone_is_said(browser: Browser) -> None:
    with running() as service:
        context = browser.new_context()
        page = context.new_page()
        page.goto(service.url)
        await_status(page, "entities")
    write(page, "pain")
    page.get_by_text("The service does not answer").wait_for()
    context.close()


def test_token_is_asked_for(browser: Browser) -> None:
    with running(token="open sesame") as service, open_page(browser, service.url) as page:
        page.get_by_label("This service requires a token").fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_label("This service requires a token").fill("open sesame")
        page.keyboard.press("Enter")
        await_status(page, "entities")
        assert page.locator("#token-form").is_hidden()


def test_everything_has_a_name_and_the_page_its_landmarks(page: Page) -> None:
    await_status(page, "entities")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input:not([hidden]), select, textarea, button")]
            .filter((one) => !one.labels?.length && !one.textContent.trim() && !one.getAttribute("aria-labelledby"))
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    for landmark in ("banner", "main", "navigation"):
        assert page.get_by_role(landmark).count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_dark(browser: Browser, service: Running, scheme: str) -> None:
    with open_page(browser, service.url, color_scheme=scheme) as page:
        await_status(page, "entities")
        ink = page.evaluate("getComputedStyle(document.querySelector('.card')).color")
        paper = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
        assert (brightness(ink) < 0.3) == (scheme == "light")
        assert abs(brightness(ink) - brightness(paper)) > 0.6


def brightness(colour: str) -> float:
    """Of a colour as browsers write it: rgb(20, 23, 27)."""
    return sum(float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 3 / 255


def test_narrow_screens_do_not_scroll_sideways(browser: Browser, service: Running) -> None:
    with open_page(browser, service.url, viewport={"width": 360, "height": 700}) as page:
        write(page, f"{'aspirin ' * 20} {'x' * 200}")
        await_status(page, "20 entities")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_docs_show_every_path(browser: Browser, service: Running) -> None:
    with open_page(browser, f"{service.url}/") as page:
        page.get_by_role("link", name="API").click()
        page.get_by_text("POST /v1/predict").wait_for()
        for path, operations in service.ask("GET", "/openapi.json")[2]["paths"].items():
            for method in operations:
                assert page.get_by_role("heading", name=f"{method.upper()} {path}", exact=True).count() == 1
