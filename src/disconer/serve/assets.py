"""The web page and its assets, served from memory, and documents drawn as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from disconer.core.types import Document
from disconer.render.html import document_html
from disconer.render.marks import plain_marks
from disconer.render.stylesheet import Palette, resource, stylesheet, themes
from disconer.serve.access import OPEN_FOLDER


def drawing(document: Document, labels: Iterable[str]) -> str:
    """An HTML element; it needs `drawing_files`. labels: in the order of their colours."""
    return document_html(document, plain_marks(document), Palette(labels))


def drawing_files() -> dict[str, str]:
    """The stylesheet and the script of drawings; the page also uses the stylesheet's colours."""
    return {"drawing.css": themes(":root") + stylesheet(), "drawing.js": resource("hover.js")}


PAGE = files("disconer.serve") / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
AT = {"index.html": "/", "docs.html": "/docs"}  # other files are served under /assets


def assets_router() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    contents = {entry.name: entry.read_bytes() for entry in PAGE.iterdir() if _suffix(entry.name) in TYPES}
    contents |= {name: text.encode("utf-8") for name, text in drawing_files().items()}
    for name, content in contents.items():
        _add(router, AT.get(name, f"{OPEN_FOLDER}{name}"), content, TYPES[_suffix(name)])
    return router


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]


def _add(router: APIRouter, path: str, content: bytes, media_type: str) -> None:
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}  # revalidated each time, sent only if changed

    async def asset(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    router.get(path)(asset)
