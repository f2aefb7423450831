"""Takes the pictures of the page again while `disconer serve` runs: `python docs/pictures/photograph.py`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
ADDRESS = "http://127.0.0.1:8000"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FADING = 1000  # milliseconds after which a new drawing shows in full
SIZE = {"width": 1040, "height": 1420}
TEXT = """Inclusion Criteria
- Women aged 40 years or older with a history of gestational diabetes
- Serum creatinine above 1.5 mg/dL, or known renal, hepatic or cardiac failure
- Stable dose of metformin or insulin for at least three months before screening"""


def main(address: str = ADDRESS) -> None:
    installed = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            page = browser.new_page(viewport=SIZE, color_scheme=theme)
            page.goto(address)
            page.locator("#text").fill(TEXT)
            page.locator("#drawing .t", has_text="renal").hover()  # its fragments light up, and its row
            page.wait_for_timeout(FADING)
            page.screenshot(path=HERE / f"page-{theme}.png")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
