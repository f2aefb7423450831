"""A real browser for tests of pages. Debian's Chromium will do; set DISCONER_CHROMIUM to use another."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def find_chromium() -> str:
    """The path of a Chromium; tests are skipped where there is none."""
    names = (os.environ.get("DISCONER_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium here: apt install chromium, or set DISCONER_CHROMIUM to one")
    return found


@contextmanager
def open_browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    path = find_chromium()
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def open_page(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page that must raise no error, log none, and ask nobody but its own server."""
    context = browser.new_context(**options)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: request.url.startswith(url) or troubles.append(f"request: {request.url}"))
    page.on("console", lambda message: _is_trouble(message) and troubles.append(f"console: {message.text}"))
    page.goto(url)
    yield page
    context.close()
    assert troubles == []


def _is_trouble(message: Any) -> bool:
    """Refusals are part of the tests; the browser logs them whatever the page does."""
    return message.type in ("error", "warning") and "Failed to load resource" not in message.text
