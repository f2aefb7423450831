"""The report in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated import annotated
from browsing import Complaints, chromium
from disconer.evaluate import Evaluation
from disconer.render.report import Report

pytestmark = pytest.mark.slow

N_DOCUMENTS = 60  # more than a page shows


def test_sentences_are_filtered_and_paged_by_keyboard(tmp_path: Path) -> None:
    evaluation, report = Evaluation(), Report()
    for number in range(N_DOCUMENTS):
        gold = annotated("ADR: pain … hands", "Site: left", id=f"d{number}")
        predicted = annotated("ADR: pain" if number % 2 else "ADR: pain … hands", "Drug: left", id=gold.id)
        evaluation.add(gold, predicted)
        report.add(gold, predicted)
    path = tmp_path / "report.html"
    with path.open("wb") as stream:
        report.write(stream, evaluation, facts={})
    with chromium() as browser:
        page = browser.new_page()
        complaints = Complaints(page)
        page.goto(path.as_uri())
        assert page.inner_text("#count") == "1 to 25 of 90"
        page.focus("#next")
        page.keyboard.press("Enter")
        assert page.inner_text("#count") == "26 to 50 of 90"
        page.select_option("#error", label="missing fragment")
        assert page.inner_text("#count") == "1 to 25 of 30"
        page.select_option("#label", label="Drug")
        assert (page.inner_text("#count"), page.locator("article").count()) == ("none", 0)
        page.focus('button[data-error="0"][data-kind="0"]')
        page.keyboard.press("Enter")
        assert page.inner_text("#count") == "1 to 25 of 60"
        page.hover(".f.missed .t")
        assert page.locator(".f.on").count() > 0
        assert complaints == []


def test_tables_fit_a_phone(tmp_path: Path) -> None:
    evaluation, report = Evaluation(), Report()
    for number in range(1200):
        gold = annotated("ADR: pain … hands", "Reference_point: left", id=f"d{number}")
        predicted = annotated("ADR: pain", "Drug: left", id=gold.id)
        evaluation.add(gold, predicted)
        report.add(gold, predicted)
    path = tmp_path / "report.html"
    with path.open("wb") as stream:
        report.write(stream, evaluation, facts={})
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 360, "height": 740})
        page.goto(path.as_uri())
        cut = "tables => tables.map(one => one.scrollWidth - one.clientWidth)"
        assert max(page.eval_on_selector_all(".wide", cut)) <= 0
        assert "may add up to more" in " ".join(page.inner_text("body").split())
