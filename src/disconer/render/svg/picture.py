"""Documents as one SVG picture, for papers and slides: fixed-width text, bars and captions under it, arcs over it.

The width of a letter is not known here, so each part of the text is stretched to the columns that it takes
(`textLength`); bars are then exact in every viewer and with every font.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from disconer.core.types import Document, Sentence
from disconer.render.clusters import columns
from disconer.render.escape import escaped
from disconer.render.lines import Line, lines, wrapped_lines
from disconer.render.marks import Mark
from disconer.render.stylesheet import Palette
from disconer.render.svg.arcs import Arcs, sentence_lines
from disconer.render.svg.marks import COLUMN, SvgMarks, svg_style
from disconer.render.svg.rows import Row, Unit, row_of

WIDTH = 100  # default columns of text
MARGIN = 16
TEXT_HEIGHT = 15  # from the top of a line of text to its baseline
LINE_GAP, DOCUMENT_GAP, HEAD_HEIGHT = 10, 20, 22

_JOINER = "\u200d"


class Picture:
    """Documents drawn one below the other."""

    def __init__(self, palette: Palette, *, width: int = WIDTH) -> None:
        self._palette, self._columns = palette, width
        self._shapes: list[str] = []
        self._left = self._right = self._bottom = 0.0

    def add(self, document: Document, marks: Sequence[Mark], *, head: str = "", arcs: bool = False) -> None:
        """Draw one more document.

        head: a line above the text.
        arcs: one sentence per line, with its dependencies over it.
        """
        self._bottom += DOCUMENT_GAP if self._shapes else 0
        if head:
            self._bottom += HEAD_HEIGHT
            self._shapes.append(f'<text class="h" x="0" y="{self._bottom - 10:g}">{escaped(head)}</text>')
        text = document.text
        stretches = sentence_lines(document, self._columns) if arcs else wrapped_lines(text, self._columns)
        parsed = {(one.start, one.end): one for one in document.sentences or () if arcs and one.heads is not None}
        own = SvgMarks(marks, self._palette)
        for line in lines(text, [mark.entity.fragments for mark in marks], stretches):
            self._line(text, line, own, parsed.get((line.start, line.end)))
        self._shapes += own.groups()

    def _line(self, text: str, line: Line, marks: SvgMarks, sentence: Sentence | None) -> None:
        row = row_of(text, line, sentence.tokens if sentence else ())
        if sentence:
            arcs = Arcs(sentence, row, top=self._bottom)
            self._shapes += arcs.shapes()
            self._widen(arcs.left, arcs.right)
            self._bottom += arcs.height
        baseline = self._bottom + TEXT_HEIGHT
        self._shapes += _words(text, row, baseline)
        depth, right = marks.add(row, line, baseline)
        self._widen(0, max(right, row.width * COLUMN))
        self._bottom = baseline + LINE_GAP + depth

    def _widen(self, left: float, right: float) -> None:
        self._left, self._right = min(self._left, left), max(self._right, right)

    def svg(self, *, theme: str = "auto", style: bool = True) -> str:
        """The whole picture.

        theme: "light", "dark", or "auto" for the reader's preference.
        style: False if the page already has the rules of `svg_style`.
        """
        left, width = self._left - MARGIN, self._right - self._left + 2 * MARGIN
        height = self._bottom + 2 * MARGIN
        box = f"{left:g} {-MARGIN} {width:g} {height:g}"
        rules = f"<style>\n{svg_style(theme)}</style>\n" if style else ""
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="disconer-svg" width="{width:g}" height="{height:g}" '
            f'viewBox="{box}">\n{rules}<rect class="p" x="{left:g}" y="{-MARGIN}" width="{width:g}" '
            f'height="{height:g}"/>\n{shapes}\n</svg>\n'
        )


def _words(text: str, row: Row, baseline: float) -> Iterator[str]:
    for unit in row.units:
        shown = text[unit.start : unit.end]
        word = shown.strip()
        if not word or unit.left == unit.right:
            continue
        places = columns(shown)
        first, last = len(shown) - len(shown.lstrip()), len(shown.rstrip())
        before = places[-1] - places[last] if row.right_to_left else places[first]
        x, width = (unit.left + before) * COLUMN, (places[last] - places[first]) * COLUMN
        glyphs = "" if word.isascii() else ' lengthAdjust="spacingAndGlyphs"'
        content = escaped(_kept_joined(text, unit, word))
        yield f'<text x="{x:g}" y="{baseline:g}" textLength="{width:g}"{glyphs}>{content}</text>'


def _kept_joined(text: str, unit: Unit, word: str) -> str:
    """Add joiners where a word of joined letters (Arabic) is cut, so that letters keep their shapes."""
    before = _JOINER if unit.start and _joins(text[unit.start - 1]) and _joins(word[0]) else ""
    after = _JOINER if unit.end < len(text) and _joins(text[unit.end]) and _joins(word[-1]) else ""
    return before + word + after


def _joins(character: str) -> bool:
    return unicodedata.bidirectional(character) == "AL"
