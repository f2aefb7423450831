"""One self-contained HTML page for any number of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from disconer.core.types import Document, Kind
from disconer.render.escape import escaped
from disconer.render.html import document_html
from disconer.render.marks import Mark, Standing
from disconer.render.stylesheet import Palette, resource, stylesheet, themes
from disconer.render.svg.marks import svg_style
from disconer.render.svg.picture import Picture

Drawing = tuple[Document, Sequence[Mark]]

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
"""
_TAIL = """<script>
{script}</script>
</body>
</html>
"""


def page(drawings: Iterable[Drawing], palette: Palette, *, theme: str = "auto", arcs: bool = False) -> Iterator[str]:
    """The parts of a page, streamed document by document.

    arcs: draw each document as SVG, one sentence per line, with its dependencies.
    """
    style = themes(":root", theme) + resource("page.css") + stylesheet(theme) + (svg_style(theme) if arcs else "")
    yield _HEAD.format(title="disconer", style=style)
    for document, marks in drawings:
        head = f"{document.id} · {summary(marks)}"
        yield _picture(document, marks, palette, head) if arcs else document_html(document, marks, palette, head=head)
    yield _TAIL.format(script=resource("hover.js"))


def fragment(document: Document, marks: Sequence[Mark], palette: Palette) -> str:
    """One document to embed in another page, as in a notebook."""
    content = document_html(document, marks, palette, head=f"{document.id} · {summary(marks)}")
    return f"<style>\n{stylesheet()}</style>\n{content}<script>\n{resource('hover.js')}</script>\n"


def _picture(document: Document, marks: Sequence[Mark], palette: Palette, head: str) -> str:
    picture = Picture(palette)
    picture.add(document, marks, arcs=True)
    return (
        f'<div class="disconer">\n<p class="head">{escaped(head)}</p>\n'
        f'<div class="scroll">\n{picture.svg(style=False)}</div>\n</div>\n'
    )


def summary(marks: Sequence[Mark]) -> str:
    """The number of entities by kind, or in a comparison by standing, with its sign."""
    standings = Counter(mark.standing for mark in marks)
    if standings.keys() - {Standing.PLAIN}:
        right, missed, wrong = (standings[one] for one in (Standing.RIGHT, Standing.MISSED, Standing.WRONG))
        return f"{right:,} right, {missed:,} missed (−), {wrong:,} wrong (+)"
    kinds = Counter(mark.entity.kind for mark in marks)
    listed = ", ".join(f"{kinds[kind]:,} {kind}" for kind in Kind if kinds[kind])
    return f"{len(marks):,} {'entity' if len(marks) == 1 else 'entities'}" + (f": {listed}" if listed else "")
