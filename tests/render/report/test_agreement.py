"""The page of an agreement: what it says, and how it behaves in a real Chromium."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pytest

from annotated import annotated
from browsing import Complaints, chromium
from disconer import Document
from disconer.evaluate.annotators.agreement import Agreement
from disconer.render.report import AgreementReport


def page_of(*documents: dict[str, Document]) -> str:
    agreement, report, stream = Agreement(["anna", "ben", "<carl>"]), AgreementReport(), BytesIO()
    for versions in documents:
        agreement.add(versions)
        report.add(versions)
    report.write(stream, agreement, {"anna": "a & b"})
    return stream.getvalue().decode()


def versions(*mentions: str, id: str = "d") -> dict[str, Document]:
    """One mention for each annotator, beside one that all have."""
    names = ("anna", "ben", "<carl>")
    return {name: annotated(mention, "ADR: itching", id=id) for name, mention in zip(names, mentions, strict=False)}


THREE = versions("ADR: pain … hands", "ADR: pain in knees", "Site: pain … hands")


def articles(page: str) -> list[str]:
    chunks = re.findall(r'class="chunk">(.*?)</script>', page)
    return [article for chunk in chunks for article in json.loads(chunk)]


def test_every_annotator_has_a_drawing_and_every_two_a_line() -> None:
    page = page_of(THREE, versions("ADR: mild", id="e"))
    (article,) = articles(page)  # a document of one annotator alone is no disagreement
    assert re.findall(r"<h4>(.*?)</h4>", article) == ["anna", "ben", "&lt;carl&gt;"]
    assert re.findall(r"<li><b>(\w+)</b>", article) == ["fragments", "label", "missed", "missed"]
    assert "anna ADR “pain … hands”, ben ADR “pain in knees”" in article
    assert "a &amp; b" in page
    assert "1 document is annotated by all annotators, 1 by only some of them" in page


def test_what_all_agree_on_is_grey() -> None:
    (article,) = articles(page_of(versions("ADR: mild", "ADR: mild itching", "ADR: mild")))
    drawings = article.split("<section>")[1:]
    assert [len(re.findall(r'class="e f right', drawing)) for drawing in drawings] == [1, 1, 1]
    assert len(re.findall(r'class="e f c0', drawings[1])) >= 1


@pytest.mark.slow
def test_in_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "agreement.html"
    path.write_text(page_of(*(versions("ADR: pain … hands", "ADR: pain", id=f"d{n}") for n in range(30)), THREE))
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        complaints = Complaints(page)
        page.goto(path.as_uri())
        assert page.inner_text("#count") == "1 to 25 of 31"
        page.select_option("#error", label="label")
        assert page.inner_text("#count") == "1 to 1 of 1"
        first, second, _ = [section.bounding_box() for section in page.locator("article section").all()]
        assert first["y"] == second["y"]  # side by side
        assert first["x"] < second["x"]
        page.set_viewport_size({"width": 380, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
        assert complaints == []
