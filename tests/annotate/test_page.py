"""The page in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from annotate.running import KNEES, annotating, folder_of
from serve.browser import open_browser, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

PAIN, STIFFNESS = "T1\tADR 0 4;19 30\tPain in my knees\n", "T2\tADR 9 30\tstiffness in my knees\n"
FEVER = "Fever, then renal or hepatic impairment; statin was stopped."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of(tmp_path / "notes", {"a.txt": f"{KNEES}\nNo fever.\n", "b.txt": FEVER, "c.txt": "Well."})


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    with annotating(folder, labels="ADR,Drug") as server, open_page(browser, server.url) as opened:
        ready(opened)
        yield opened


@pytest.fixture
def suggested(browser: Browser, folder: Path) -> Iterator[Page]:
    """With the suggestions of a model; the second document is open."""
    with annotating(folder, model="words") as server, open_page(browser, server.url) as opened:
        ready(opened)
        opened.goto(f"{server.url}/#b")
        opened.locator("#title", has_text="b").wait_for()
        opened.wait_for_selector("#text .suggested")
        yield opened


def ready(page: Page) -> None:
    page.set_default_timeout(30_000)
    page.wait_for_selector("#text .line")


def saved(page: Page) -> None:
    page.locator("#status", has_text=re.compile("^Saved")).wait_for()


def press(page: Page, keys: str) -> int:
    """Press keys one after another; returns how many."""
    for key in keys.split():
        page.keyboard.press(key)
    saved(page)
    return len(keys.split())


def place_of(page: Page, word: str, nth: int = 0) -> dict[str, float]:
    """Where a word is on the screen."""
    found = page.evaluate(
        """([word, nth]) => {
            const walker = document.createTreeWalker(document.getElementById("text"), NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node; node = walker.nextNode())
                for (let at = node.data.indexOf(word); at >= 0; at = node.data.indexOf(word, at + 1)) {
                    if (nth-- > 0) continue;
                    const range = document.createRange();
                    range.setStart(node, at);
                    range.setEnd(node, at + word.length);
                    return range.getBoundingClientRect().toJSON();
                }
        }""",
        [word, nth],
    )
    assert found, f"{word!r} is not on the page"
    return dict(found)


def drag(page: Page, first: str, last: str | None = None) -> int:
    """Select from one word to another with the mouse."""
    start, end = place_of(page, first), place_of(page, last or first)
    page.mouse.move(start["left"] + 2, start["top"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["right"] - 2, end["top"] + end["height"] / 2, steps=4)
    page.mouse.up()
    return 1


def click_label(page: Page, label: str) -> int:
    page.locator("#labels").get_by_role("button", name=label).click()
    return 1


def await_marks(page: Page, n: int, of: str = "[data-l]") -> None:
    """Wait until so many captions are drawn."""
    for _ in range(100):
        if page.locator(f"#text {of}").count() == n:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{page.locator(f'#text {of}').count()} marks, not {n}")


def marks(page: Page) -> list[str]:
    """The descriptions of what is drawn, entities and suggestions."""
    found = [str(one.get_attribute("aria-label")) for one in page.locator("#text [data-l]").all()]
    return sorted(found)


def selected(page: Page) -> str:
    return page.locator("#selected").inner_text()


def history(folder: Path, id: str = "a") -> list[dict[str, Any]]:
    lines = (folder / ".disconer" / "history" / f"{id}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_an_entity_with_a_gap_and_one_that_overlaps_it_by_keyboard(page: Page, folder: Path) -> None:
    n = press(page, "+ ArrowRight ArrowRight ArrowRight Shift+ArrowRight Shift+ArrowRight 1")
    n += press(page, "Shift+ArrowLeft 1")
    assert n < 12
    assert (folder / "a.ann").read_text() == PAIN + STIFFNESS
    assert marks(page) == ["ADR: “Pain … in my knees”", "ADR: “stiffness in my knees”"]
    assert [(step["by"], step["kind"]) for step in history(folder)] == [("anna", "edit")] * 2


def test_pain_and_knees_alone_by_keyboard(page: Page, folder: Path) -> None:
    n = press(page, "+ ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight 1")
    n += press(page, "Shift+ArrowLeft Shift+ArrowLeft Shift+ArrowLeft 1")
    assert n < 12
    assert (folder / "a.ann").read_text() == "T1\tADR 0 4;25 30\tPain knees\n" + STIFFNESS


def test_the_same_by_mouse(page: Page, folder: Path) -> None:
    n = drag(page, "Pain")
    page.keyboard.down("Control")
    n += drag(page, "in my", "knees")
    page.keyboard.up("Control")
    n += click_label(page, "ADR")
    n += drag(page, "stiffness", "knees")
    n += click_label(page, "ADR")
    saved(page)
    assert n < 12
    assert (folder / "a.ann").read_text() == PAIN + STIFFNESS


def test_by_mouse_without_any_key(page: Page, folder: Path) -> None:
    drag(page, "Pain")
    page.get_by_role("button", name="Add a fragment").click()
    drag(page, "in my", "knees")
    click_label(page, "ADR")
    saved(page)
    assert (folder / "a.ann").read_text() == PAIN


def test_control_adds_to_the_entity_that_was_just_made(page: Page, folder: Path) -> None:
    drag(page, "Pain")
    page.keyboard.press("1")
    page.keyboard.down("Control")
    drag(page, "in my", "knees")
    page.keyboard.up("Control")
    saved(page)
    assert (folder / "a.ann").read_text() == PAIN


def click_bar(page: Page, id: str) -> None:
    """Click on the bar of an entity, under its words."""
    box = page.locator(f'#text [data-e="{id}"][data-l]').bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 4, box["y"] + box["height"] - 5)


def test_entities_are_chosen_changed_and_joined_by_mouse(page: Page, folder: Path) -> None:
    for word in ("Pain", "knees"):
        drag(page, word)
        click_label(page, "ADR")
    page.mouse.click(*list(place_of(page, "after").values())[:2])
    click_bar(page, "T1")
    assert selected(page).startswith("ADR: “Pain”")
    click_label(page, "Drug")
    page.get_by_role("button", name="End one word later").click()
    saved(page)
    assert (folder / "a.ann").read_text().startswith("T1\tDrug 0 8\tPain and\n")
    page.keyboard.down("Control")
    click_bar(page, "T2")
    page.keyboard.up("Control")
    page.get_by_role("button", name="Join").click()
    saved(page)
    page.wait_for_timeout(50)
    assert (folder / "a.ann").read_text() == "T1\tDrug 0 8;25 30\tPain and knees\n"
    page.locator("#text .t", has_text="knees").dblclick()
    page.get_by_role("button", name="Split").click()
    saved(page)
    page.get_by_role("button", name="Delete").click()
    saved(page)
    page.wait_for_timeout(50)
    assert (folder / "a.ann").read_text() == "T3\tDrug 25 30\tknees\n"


def test_labels_have_their_colours_and_descriptions(browser: Browser, folder: Path) -> None:
    folder_of(folder, {"labels.yaml": 'ADR: {colour: "#0a7d3b", key: e, description: An unwanted effect.}\nDrug:\n'})
    with annotating(folder) as server, open_page(browser, server.url) as page:
        ready(page)
        chip = page.locator("#labels").get_by_role("button", name="ADR")
        assert chip.get_attribute("title") == "An unwanted effect."
        press(page, "e")
        assert (folder / "a.ann").read_text() == "T1\tADR 0 4\tPain\n"
        colour = "(bar) => getComputedStyle(bar).getPropertyValue('--c')"
        assert page.locator("#text [data-l]").evaluate(colour).strip() == "#0a7d3b"


def test_undo_to_nothing_and_redo_to_all(page: Page, folder: Path) -> None:
    states = []
    for keys in ("1", "ArrowRight ArrowRight Shift+ArrowRight 2", "1", "g", "H", "x", "ArrowRight 2", "k x"):
        press(page, keys)
        states.append((folder / "a.ann").read_text())
    assert len(set(states)) > 5
    for before in [*states[-2::-1], ""]:
        press(page, "u")
        page.wait_for_timeout(30)
        saved(page)
        assert (folder / "a.ann").read_text() == before
    assert page.locator("#undo").is_disabled()
    assert marks(page) == []
    page.reload()
    ready(page)
    for after in states:
        page.keyboard.press("Control+y")
        page.wait_for_timeout(30)
        saved(page)
        assert (folder / "a.ann").read_text() == after
    assert page.locator("#redo").is_disabled()


def test_labels_edges_gaps_and_joins(page: Page, folder: Path) -> None:
    ann = folder / "a.ann"
    press(page, "Shift+ArrowRight Shift+ArrowRight 1")
    assert ann.read_text() == "T1\tADR 0 18\tPain and stiffness\n"
    press(page, "2")
    assert ann.read_text() == "T1\tDrug 0 18\tPain and stiffness\n"
    press(page, "g")
    assert ann.read_text() == "T1\tDrug 0 21\tPain and stiffness in\n"
    press(page, "h h")
    assert ann.read_text() == "T1\tDrug 0 8\tPain and\n"
    press(page, "H")
    assert ann.read_text() == "T1\tDrug 5 8\tand\n"
    press(page, "G g Alt+h")
    assert ann.read_text() == "T1\tDrug 0 17\tPain and stiffnes\n"
    press(page, "Alt+g Control+Home ArrowRight t")  # cuts “and” out
    assert ann.read_text() == "T1\tDrug 0 4;9 18\tPain stiffness\n"
    press(page, "t")
    assert ann.read_text() == "T1\tDrug 0 4\tPain\nT2\tDrug 9 18\tstiffness\n"
    press(page, "Escape j J m")
    assert ann.read_text() == "T1\tDrug 0 4;9 18\tPain stiffness\n"
    press(page, "+ ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight Enter")
    assert ann.read_text() == "T1\tDrug 0 4;9 18;25 30\tPain stiffness knees\n"
    press(page, "Delete")
    assert ann.read_text() == ""


def test_notes_and_lines_of_others(browser: Browser, tmp_path: Path) -> None:
    content = "T1\tADR 0 4\tPain\r\nR1\tCauses Arg1:T2 Arg2:T1\r\nT2\tDrug 37 44\taspirin\r\nA1\tNegated T1\r\n"
    folder = folder_of(tmp_path, {"a.txt": KNEES, "a.ann": content})
    with annotating(folder) as server, open_page(browser, server.url) as page:
        ready(page)
        press(page, "j c")
        page.get_by_label("Note on this entity").fill("since\tMay")
        page.keyboard.press("Enter")
        saved(page)
        noted = f"{content}#1\tAnnotatorNotes T1\tsince May\r\n"
        assert (folder / "a.ann").read_bytes().decode() == noted
        assert marks(page)[0] == "ADR: “Pain”. Note: since May"
        press(page, "x")
        assert (folder / "a.ann").read_bytes().decode() == "T2\tDrug 37 44\taspirin\r\n"
        assert "3 lines about it" in page.locator("#status").inner_text()
        press(page, "u")
        await_marks(page, 2)
        assert (folder / "a.ann").read_bytes().decode() == noted


def test_entities_of_jsonl_may_have_no_ids(browser: Browser, tmp_path: Path) -> None:
    entities = [{"label": label, "fragments": [[0, 4]]} for label in ("ADR", "Finding")]
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({"id": "a", "text": KNEES, "entities": entities}))
    with annotating(path, labels="ADR,Drug") as server, open_page(browser, server.url) as page:
        ready(page)
        press(page, "j J 2")
        after = [{"id": f"T{n}", "label": "Drug", "fragments": [[0, 4]]} for n in (1, 2)]
        assert json.loads(path.read_text())["entities"] == after
        press(page, "u")
        page.wait_for_timeout(100)
        assert json.loads(path.read_text())["entities"] == entities
        press(page, "Escape j c")
        page.get_by_label("Note on this entity").fill("since May")
        page.keyboard.press("Enter")
        saved(page)
        page.wait_for_timeout(100)
        (noted,) = [mark for mark in marks(page) if "Note" in mark]
        assert noted == "ADR: “Pain”. Note: since May"


def test_what_cannot_be_saved_is_said_and_kept(page: Page, folder: Path) -> None:
    press(page, "1")
    (folder / "a.ann").write_text("T1 this is no line of brat\n")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    page.locator("#status", has_text="Not saved: ").wait_for()
    assert (folder / "a.ann").read_text() == "T1 this is no line of brat\n"
    (folder / "a.ann").write_text("T1\tADR 0 4\tPain\n")
    press(page, "ArrowRight 2")
    assert (folder / "a.ann").read_text() == "T1\tADR 0 4\tPain\nT2\tDrug 5 8\tand\nT3\tDrug 9 18\tstiffness\n"


def test_suggestions_are_accepted_and_rejected(suggested: Page, folder: Path) -> None:
    page = suggested
    assert marks(page)[0].startswith("Suggestion Condition: “Fever”, score 0.60")
    press(page, "j a")  # Fever; then renal … impairment is chosen
    assert (folder / "b.ann").read_text() == "T1\tCondition 0 5\tFever\n"
    assert "renal … impairment" in selected(page)
    press(page, "r")
    assert not any("renal" in mark for mark in marks(page))
    page.locator("#above").fill("0.75")
    page.get_by_role("button", name="Accept scores from").click()
    saved(page)
    accepted = [line.split("\t")[2] for line in (folder / "b.ann").read_text().splitlines()]
    assert accepted == ["Fever", "hepatic impairment", "statin"]
    press(page, "A")
    assert len((folder / "b.ann").read_text().splitlines()) == 4
    assert page.locator("#suggestions").is_hidden()
    page.reload()
    ready(page)
    page.wait_for_timeout(300)
    assert page.locator("#text .suggested").count() == 0  # what was rejected does not come back
    press(page, "u u u")
    page.wait_for_selector("#text .suggested")
    assert any("renal" in mark for mark in marks(page))  # unless the rejection is undone


def test_what_is_deleted_is_not_suggested_again(suggested: Page) -> None:
    press(suggested, "j a k x")
    suggested.wait_for_timeout(100)
    assert not any("Fever" in mark for mark in marks(suggested))


def test_a_file_that_changed_is_not_overwritten(page: Page, folder: Path) -> None:
    press(page, "1")
    theirs = (folder / "a.ann").read_text() + "T2\tDrug 37 44\taspirin\n"
    (folder / "a.ann").write_text(theirs)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    page.get_by_text("This document changed in the meantime").wait_for()
    assert (folder / "a.ann").read_text() == theirs
    assert page.locator("#theirs [data-l]").count() == 2
    assert page.locator("#yours").get_by_role("note", name="Drug: “and”").count() == 1
    page.get_by_role("button", name="Keep entities of both").click()
    saved(page)
    page.wait_for_timeout(100)
    assert (folder / "a.ann").read_text() == theirs + "T3\tDrug 5 8\tand\n"
    press(page, "u")
    page.wait_for_timeout(100)
    assert (folder / "a.ann").read_text() == theirs


def test_a_reload_in_mid_edit(page: Page, folder: Path) -> None:
    press(page, "+ ArrowRight ArrowRight ArrowRight")
    page.reload()
    ready(page)
    assert selected(page).startswith("“Pain … in”")
    press(page, "Shift+ArrowRight Shift+ArrowRight 1")
    assert (folder / "a.ann").read_text() == PAIN


def test_find_and_go_from_document_to_document(page: Page, folder: Path) -> None:
    page.keyboard.press("/")
    page.keyboard.type("KNEES")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    press(page, "2")
    assert (folder / "a.ann").read_text() == "T1\tDrug 25 30\tknees\n"
    press(page, "n")
    page.locator("#title", has_text="b").wait_for()
    press(page, "p")
    page.locator("#title", has_text="a").wait_for()
    press(page, "d")  # done, and on to the next
    page.locator("#title", has_text="b").wait_for()
    press(page, "d")
    page.locator("#title", has_text="c").wait_for()
    assert page.locator("#progress-text").inner_text() == "2 of 3 done"
    assert (folder / "b.ann").read_text() == ""  # known to have no entities
    page.locator("#filter").fill("a")
    assert page.locator("#list li:visible").all_inner_texts()[0].split()[0] == "a"


def test_annotators_in_folders_of_their_own(browser: Browser, folder: Path, tmp_path: Path) -> None:
    both = {"annotators": ["anna", "ben"], "each_in": tmp_path / "each", "labels": "ADR"}
    with annotating(folder, **both) as server, open_page(browser, server.url) as page:
        ready(page)
        press(page, "1")
        page.get_by_label("Annotator").select_option("ben")
        await_marks(page, 0)
        press(page, "ArrowRight 1")
        assert (tmp_path / "each" / "anna" / "a.ann").read_text() == "T1\tADR 0 4\tPain\n"
        assert (tmp_path / "each" / "ben" / "a.ann").read_text() == "T1\tADR 5 8\tand\n"
        assert not (folder / "a.ann").exists()


def test_token(browser: Browser, folder: Path) -> None:
    with annotating(folder, token="open sesame") as server, open_page(browser, server.url) as page:
        page.get_by_label("This page requires a token").fill("open sesame")
        page.keyboard.press("Enter")
        ready(page)
        page.reload()
        ready(page)  # it is not asked for again


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phones_and_dark_rooms(browser: Browser, folder: Path, scheme: str) -> None:
    small = {"viewport": {"width": 360, "height": 700}, "color_scheme": scheme}
    with annotating(folder, model="words") as server, open_page(browser, server.url, **small) as page:
        ready(page)
        page.goto(f"{server.url}/#b")
        page.locator("#title", has_text="b").wait_for()
        page.wait_for_selector("#text .suggested")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert not page.locator("#list").is_visible()
        page.get_by_role("button", name="Documents", exact=True).click()
        page.locator("#list").get_by_text("a", exact=True).click()
        page.locator("#title", has_text="a").wait_for()
        assert not page.locator("#list").is_visible()
        click_label(page, "Condition")
        saved(page)
        assert (folder / "a.ann").read_text() == "T1\tCondition 0 4\tPain\n"
        ink = page.evaluate("getComputedStyle(document.getElementById('text')).color")
        assert (sum(map(int, ink[4:-1].split(","))) < 300) == (scheme == "light")


def test_handles_of_a_touch_screen(browser: Browser, folder: Path) -> None:
    small = {"viewport": {"width": 360, "height": 700}, "has_touch": True, "is_mobile": True}
    select = """([start, end]) => {
        const line = document.querySelector("#text .line").firstChild;
        getSelection().setBaseAndExtent(line, start, line, end);
    }"""
    with annotating(folder, labels="ADR") as server, open_page(browser, server.url, **small) as page:
        ready(page)
        for place in ([1, 2], [0, 4]):  # the second moves the handles of the first
            page.evaluate(select, place)
        page.get_by_role("button", name="Add a fragment").tap()
        for place in ([19, 24], [19, 30]):
            page.evaluate(select, place)
        page.wait_for_timeout(50)
        page.locator("#labels").get_by_role("button", name="ADR").tap()
        saved(page)
        page.wait_for_timeout(100)
        assert (folder / "a.ann").read_text() == PAIN
        first = place_of(page, "aspirin")
        page.touchscreen.tap(first["left"] + 5, first["top"] + 5)
        assert selected(page).startswith("“aspirin”")


def test_letters_beyond_the_basic_plane(browser: Browser, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"a.txt": "😀 pain 😀😀 in 日本 e\u0301tat\n😀 knees"})
    with annotating(folder, labels="ADR") as server, open_page(browser, server.url) as page:
        ready(page)
        drag(page, "pain")
        page.keyboard.down("Control")
        drag(page, "knees")
        page.keyboard.up("Control")
        page.keyboard.press("1")
        saved(page)
        assert (folder / "a.ann").read_text() == "T1\tADR 2 6;24 29\tpain knees\n"
