"""Takes the pictures of `disconer annotate` again: `python docs/pictures/photograph_annotate.py`.

The texts are made up. With the folder of the tutorial, on which a model was trained already, it takes the tutorial's
pictures instead, and trains another model for them: `python docs/pictures/photograph_annotate.py texts DOCUMENT`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1100, "height": 640}
HOUR = 3_600_000  # milliseconds
LOADED = 1500  # milliseconds after which a page shows its suggestions
POSTS = {
    "post-01": """Pain and stiffness in my knees and hands after two weeks on Lipitor.
I could not sleep, had severe headaches, and felt dizzy when I stood up.
My doctor took me off the drug; the pain in my arms and legs went away within days.""",
    "post-02": "Aspirin upset my stomach. No other side effects.",
    "post-03": "Blurred vision and a dry mouth from the new tablets.",
    "post-04": "Swollen feet and ankles, and itching all over my back.",
}
TRIALS = {
    "trial-01": """Women aged 40 years or older with a history of gestational diabetes
Serum creatinine above 1.5 mg/dL, or known renal, hepatic or cardiac failure
Stable dose of metformin or insulin for at least three months before screening""",
    "trial-02": "Allergy to penicillin or other antibiotics",
    "trial-03": "Previous treatment with an oral anticoagulant",
    "trial-04": "Uncontrolled high blood pressure or heart rate",
}
LABELS = "ADR: An unwanted effect of a drug.\nDrug: What was taken.\nSymptom: A complaint that had been there before.\n"


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "disconer", "annotate", str(folder), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = next(line for line in process.stderr if "http://" in line)
    try:
        yield line.split(" on ")[1].split()[0]
    finally:
        process.terminate()
        process.wait()


def press(page: Any, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)
    page.wait_for_timeout(300)


def photograph(page: Any, name: str) -> None:
    page.mouse.move(0, 0)
    page.screenshot(path=HERE / f"{name}.png")


@contextmanager
def folder_of(name: str, texts: dict[str, str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / name
        folder.mkdir()
        for id, text in texts.items():
            (folder / f"{id}.txt").write_text(text, "utf-8")
        yield folder


def in_the_making(browser: Any) -> None:
    """An entity with a gap, before it has its label."""
    with folder_of("posts", POSTS) as folder:
        (folder / "labels.yaml").write_text(LABELS, "utf-8")
        with served(folder) as url:
            page = browser.new_page(viewport=SIZE)
            page.goto(url)
            page.wait_for_timeout(LOADED)
            press(page, "+ ArrowRight ArrowRight ArrowRight Shift+ArrowRight Shift+ArrowRight")
            photograph(page, "annotate-gap")


def suggested(browser: Any, theme: str) -> None:
    """Accepted entities beside suggestions, of which one is chosen."""
    labels = "Person,Condition,Measurement,Value,Drug,Temporal"
    options = ("--model", "clinical-trials", "--labels", labels)
    with folder_of("trials", TRIALS) as folder, served(folder, *options) as url:
        page = browser.new_page(viewport=SIZE, color_scheme=theme)
        page.goto(url)
        page.wait_for_timeout(LOADED)
        press(page, "j a a a a a a a")
        photograph(page, f"annotate-{theme}")


def tutorial(browser: Any, folder: Path, document: str) -> None:
    """The suggestions of a model that was trained here, and what the page says after another training."""
    with served(folder) as url:
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{url}/#{document}")
        page.wait_for_timeout(LOADED)
        photograph(page, "annotate-suggestions")
        page.locator("#train").click()
        page.get_by_text("New model:").wait_for(timeout=HOUR)
        page.wait_for_timeout(LOADED)
        photograph(page, "annotate-training")


def main(folder: str = "", document: str = "") -> None:
    installed = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        if folder:
            tutorial(browser, Path(folder), document)
        else:
            in_the_making(browser)
            for theme in ("light", "dark"):
                suggested(browser, theme)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
