"""Drawing annotated text: HTML, SVG, terminal, report; every entity in a lane under the text.

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
from disconer.render.svg import Picture

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
    """Draw one or many documents: a self-contained HTML page, or SVG for papers and slides.

    gold: documents with the same ids and texts to compare with; missed and wrong entities are marked.
    arcs: also draw the dependencies of sentences with heads.
    theme: "light", "dark", or "auto" for the reader's preference.
    labels: labels that get the first colours; others get the next ones in order of appearance.
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
    """Like `render` to HTML, streaming: documents are drawn as they arrive, and none is kept."""
    return page(drawings(documents, gold), Palette(labels), theme=theme, arcs=arcs)


def render_fragment(document: Document, *, labels: Iterable[str] = ()) -> str:
    """One document as an HTML element with its styles, to embed in another page, as in a notebook."""
    return fragment(document, plain_marks(document), Palette(labels))


def drawings(documents: Documents, gold: Documents | None = None) -> Iterator[Drawing]:
    """Each document with its marks."""
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
