"""A real browser for tests of what people see; where there is none, such tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# No sandbox: tests run as root in containers. The others keep the browser from calling home.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@contextmanager
def chromium() -> Iterator[Any]:
    """A Playwright browser."""
    api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs Chromium: none is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Complaints(list[str]):
    """Collects what a page reports as wrong: errors, warnings, and dialogs, which only an injected script opens."""

    def __init__(self, page: Any) -> None:
        page.on("console", lambda message: self.append(message.text))
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("requestfailed", lambda request: self.append(request.url))
        page.on("dialog", lambda dialog: (self.append(dialog.message), dialog.dismiss()))
