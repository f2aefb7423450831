"""Pictures of documents, as the page shows them. They are those of `disconer.render`."""

from __future__ import annotations

from collections.abc import Iterable

from disconer.core.types import Document
from disconer.render.html import document_html
from disconer.render.marks import plain_marks
from disconer.render.palette import Palette
from disconer.render.stylesheet import resource, stylesheet, themes


def drawing(document: Document, labels: Iterable[str]) -> str:
    """An HTML element; it needs `drawing_files`. labels: in the order in which they get their colours."""
    return document_html(document, plain_marks(document), Palette(labels))


def drawing_files() -> dict[str, str]:
    """The style and the script of drawings; the page uses the colours of the style, too."""
    return {"drawing.css": themes(":root") + stylesheet(), "drawing.js": resource("hover.js")}
