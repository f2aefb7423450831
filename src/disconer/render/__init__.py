"""Annotated text as pictures: every entity in a lane under the text, whatever its shape.

May import `evaluate` and all below it. No torch.

>>> from disconer.render import render
>>> from disconer.core.types import Document, Entity
>>> document = Document("a", "pain in knees and hands", (Entity("ADR", ((0, 7), (18, 23))),))
>>> page, picture = render(document), render(document, format="svg")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from disconer.core.types import Document
from disconer.evaluate.pairing import paired
from disconer.render.html import Drawing, fragment, page
from disconer.render.marks import compared_marks, plain_marks
from disconer.render.stylesheet import Palette
from disconer.render.svg.picture import Picture

Theme = Literal["auto", "light", "dark"]
Documents = Document | Iterable[Document]


def render(
    documents: Documents,
    gold: Documents | None = None,
    *,
    format: Literal["html", "svg"] = "html",
    arcs: bool = False,
    theme: Theme = "auto",
    labels: Iterable[str] = (),
) -> str:
    """Draw one or many documents: a self-contained HTML page, or an SVG picture for papers and slides.

    gold: documents with the same ids and texts to compare with; what is missed and what is wrong is marked.
    arcs: draw the dependencies of sentences that have heads, too.
    theme: "light", "dark", or "auto" for what the reader prefers.
    labels: those that take the first colours; others take the next ones as they come.
    """
    if format == "svg":
        return _svg(drawings(documents, gold), Palette(labels), theme, arcs)
    return "".join(render_page(documents, gold, arcs=arcs, theme=theme, labels=labels))


def render_page(
    documents: Documents,
    gold: Documents | None = None,
    *,
    arcs: bool = False,
    theme: Theme = "auto",
    labels: Iterable[str] = (),
) -> Iterator[str]:
    """As `render` to HTML, in parts: documents are drawn as they come, and none is kept."""
    return page(drawings(documents, gold), Palette(labels), theme=theme, arcs=arcs)


def render_fragment(document: Document, *, labels: Iterable[str] = ()) -> str:
    """One document as an HTML element with its styles, to stand within a page of somebody else's, as in a notebook."""
    return fragment(document, plain_marks(document), Palette(labels))


def drawings(documents: Documents, gold: Documents | None = None) -> Iterator[Drawing]:
    """Each document with what is to be drawn of it."""
    if gold is None:
        for document in _many(documents):
            yield document, plain_marks(document)
    else:
        for one_gold, predicted in paired(_many(gold), _many(documents)):
            yield predicted, compared_marks(one_gold, predicted)


def _many(documents: Documents) -> Iterable[Document]:
    return (documents,) if isinstance(documents, Document) else documents


def _svg(drawn: Iterable[Drawing], palette: Palette, theme: Theme, arcs: bool) -> str:
    picture = Picture(palette)
    several = list(drawn)
    for document, marks in several:
        picture.add(document, marks, head=document.id if len(several) > 1 else "", arcs=arcs)
    return picture.svg(theme=theme)


__all__ = ["render", "render_fragment", "render_page"]
