"""Documentation that a reader can follow: relative links, their anchors, and the paths that the architecture names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for folder in ("docs", "recipes", "parsers", "src/disconer/demo", "src/disconer/bundled")
    for page in (ROOT / folder).rglob("*.md")
) + [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"


_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_PATH = re.compile(r"`([a-z0-9_]+/[a-z0-9_/.]*)`")

page_by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> anchor("On Ray: several `processes`, [several](x.md) machines")
    'on-ray-several-processes-several-machines'
    """
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in _HEADING.findall(_FENCE.sub("", page.read_text("utf-8")))}


@page_by_page
def test_links_and_anchors_exist(page: Path) -> None:
    text = _CODE.sub("", _FENCE.sub("", page.read_text("utf-8")))
    for groups in _LINK.findall(text):
        target, _, place = "".join(groups).partition("#")
        if target.startswith(("http:", "https:", "mailto:", "data:")):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        if place:
            assert place in anchors(file), f"{target}#{place}"


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md") if page.name != "README.md"]
    listed = [page for page in pages if page.parts[0] != "decisions"]
    assert [page.name for page in listed if f"({page.as_posix()}" not in index] == []


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")
    assert [page.name for page in folder.glob("0*.md") if f"({page.name})" not in index] == []


def test_the_architecture_names_files_that_exist() -> None:
    paths = set(_PATH.findall(ARCHITECTURE.read_text("utf-8")))
    assert len(paths) > 50
    assert sorted(path for path in paths if not (ROOT / "src" / "disconer" / path).exists()) == []
