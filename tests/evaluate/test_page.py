from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings

from annotated import annotated, entity
from disconer.evaluate import Evaluation
from disconer.evaluate.page import Page
from disconer.types import Document, Entity
from strategies import documents

VOID = {"meta"}


class Checked(HTMLParser):
    """Reads a page, insisting that every element is closed in order; keeps its text, marks and tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.marks: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "mark":
            self.marks.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "mark" in self.open:
            self.marks[-1] += data


def page_of(gold: Document, predicted: Document) -> str:
    evaluation, page = Evaluation(), Page()
    evaluation.add(gold, predicted)
    page.add(gold, predicted)
    return page.html(evaluation)


def test_figures_errors_and_wrong_sentences() -> None:
    gold = annotated("ADR: pain … hands", "ADR: itching")
    predicted = gold.replace(entities=(entity("ADR: pain", score=0.5), entity("ADR: itching", score=0.9)))
    page = Checked(page_of(gold, predicted))
    assert "missing fragment: ADR “pain hands” → ADR “pain”" in page.text
    assert "Wrong sentences: 1" in page.text
    assert "expected calibration error 30.0" in page.text
    assert page.marks == ["right", "wrong", "pain", "hands", "pain"]


@settings(max_examples=50)
@given(gold=documents())
def test_any_text_is_escaped_and_whole(gold: Document) -> None:
    page = Checked(page_of(gold, gold.replace(entities=())))
    known = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "h3",
        "p",
        "mark",
        "article",
        "dl",
        "dt",
        "dd",
    }
    assert page.tags <= known | {"ul", "li", "table", "thead", "tbody", "tr", "th", "td"}


def test_markup_in_text_labels_and_ids_stays_text() -> None:
    evil = "<script>alert('&amp;')</script>"
    gold = Document(f'"{evil}', evil, (Entity(f'"><{evil}', ((0, 8), (10, 12))),))
    page = Checked(page_of(gold, gold.replace(entities=())))
    assert "script" not in page.tags
    assert page.text.count(evil) >= 4  # id, gold and predicted text, label
    assert "http" not in page_of(gold, gold)  # nothing is loaded from elsewhere
