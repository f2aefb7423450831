"""Documents as HTML: their unmodified text, with bars under it that the browser lays out with the text; whole pages.

No width is measured, so any script, font and window works: each segment of the text is nested in inline boxes, one
per entity, which hang below the text by the depth of their lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from disconer.core.counting import counted
from disconer.core.types import Document, Kind
from disconer.render.clusters import columns, has_right_to_left
from disconer.render.lines import (
    Line,
    Part,
    Piece,
    Placed,
    Reach,
    Segment,
    Stretch,
    lines,
    pack,
    segments,
    wrapped_lines,
)
from disconer.render.marks import Mark, Standing
from disconer.render.stylesheet import Palette, escaped, resource, stylesheet, themes
from disconer.render.svg import Picture
from disconer.render.svg_marks import svg_style

LONGEST_LINE = 4_000  # columns; browsers take minutes for a paragraph of a million characters

# Rough widths in em, only to keep captions of one lane apart; bars need none.
_NARROW, _WIDE = frozenset("iIjlftr.,;:!|'\"()[]{} -"), frozenset("mwMW@%")
_CAPTION_SIZE = 0.75  # relative to the text; captions are smaller, and bold
_CAPTION_GAP = 0.5  # em between two captions
_INVISIBLE = 0.001  # em; the width of zero-width text, so that two entities that share only such text need two lanes


def document_html(
    document: Document, marks: Sequence[Mark], palette: Palette, *, head: str = "", window: Stretch | None = None
) -> str:
    """A document and its marks as an element of class `disconer`.

    It needs the rules of `stylesheet`, and the script `hover.js` to highlight entities.

    head: a line above the text.
    window: the range of the text to show; marks that extend beyond it have open ends.
    """
    title = f'<p class="head">{escaped(head)}</p>\n' if head else ""
    rows = "\n".join(_lines(document.text, marks, palette, window))
    compared = any(mark.standing is not Standing.PLAIN for mark in marks)  # which makes captions longer
    return f'<div class="disconer{" compared" if compared else ""}">\n{title}{rows}\n</div>\n'


def _lines(text: str, marks: Sequence[Mark], palette: Palette, window: Stretch | None) -> Iterator[str]:
    drawing = _Drawing(text, marks, palette)
    fragments = [mark.entity.fragments for mark in marks]
    for line in lines(text, fragments, wrapped_lines(text, LONGEST_LINE, window)):
        content = drawing.line(line) if line.pieces else escaped(text[line.start : line.end])
        yield f'<div class="line" dir="auto">{content or "<br>"}</div>'


class _Drawing:
    """Draws the lines of one text."""

    def __init__(self, text: str, marks: Sequence[Mark], palette: Palette) -> None:
        self.text, self.marks = text, marks
        self.colours = [_colour_class(mark, palette) for mark in marks]
        self.described: set[int] = set()  # marks that already have a description and can be focused

    def line(self, line: Line) -> str:
        lanes = pack(_reaches(self.text, line, self.marks))
        placed = [Placed(lane, piece) for lane, piece in zip(lanes, line.pieces, strict=True) if lane is not None]
        content = "".join([self._segment(segment) for segment in segments(line, placed)])
        hidden = len(line.pieces) - len(placed)
        more = counted(hidden, "more entities")
        return content + (f'<span class="more"> + {more} here</span>' if hidden else "")

    def _segment(self, segment: Segment) -> str:
        text = escaped(self.text[segment.start : segment.end])
        if not segment.parts:
            return text
        opening, above = "", -1
        for part in segment.parts:
            lane = part.placed.lane
            place = f"a{lane}" if above < 0 else f"b{lane - above}"
            opening += f"<span{self._attributes(part, segment, place)}>"
            above = lane
        return f'{opening}<span class="t r{above}">{text}</span>{"</span>" * len(segment.parts)}'

    def _attributes(self, part: Part, segment: Segment, place: str) -> str:
        piece = part.placed.piece
        number = piece.number
        classes = f"e {'f' if part.is_fragment else 'g'} {self.colours[number]} {place}"
        if segment.start == piece.start and not piece.from_before:
            classes += " h"
        if segment.end == piece.end and not piece.goes_on:
            classes += " z"
        attributes = f' class="{classes}" data-e="{number}"'
        if piece.fragments and segment.start == piece.fragments[0].start:
            mark = self.marks[number]
            attributes += f' data-l="{escaped(_caption(mark, piece))}"'
            if number not in self.described:
                self.described.add(number)
                attributes += f' tabindex="0" role="note" aria-label="{escaped(mark.description)}"'
        return attributes


def _colour_class(mark: Mark, palette: Palette) -> str:
    return f"c{palette.number(mark.entity.label)}" if mark.standing is Standing.PLAIN else mark.standing.value


def _caption(mark: Mark, piece: Piece) -> str:
    return f"… {mark.caption}" if piece.from_before else mark.caption


def _reaches(text: str, line: Line, marks: Sequence[Mark]) -> list[Reach]:
    """The extent of each piece in its lane: the caption may be wider than the text above it."""
    shown = text[line.start : line.end]
    places, either_way = _ems(shown), has_right_to_left(shown)
    reaches = []
    for piece in line.pieces:
        start, end = places[piece.start - line.start], places[piece.end - line.start]
        if piece.fragments:
            width = _ems(_caption(marks[piece.number], piece))[-1] * _CAPTION_SIZE + _CAPTION_GAP
            anchor = places[piece.fragments[0].start - line.start]
            end = max(end, anchor + width)
            start = min(start, anchor - width) if either_way else start
        reaches.append((start, end))
    return reaches


def _ems(text: str) -> list[float]:
    """The approximate position of each character in a proportional font, and last the total width."""
    return list(accumulate(map(_em, text), initial=0.0))


@lru_cache(maxsize=10_000)
def _em(character: str) -> float:
    if character in _NARROW:
        return 0.3
    if character in _WIDE:
        return 0.85
    return 0.6 if character.isupper() else 0.52 * columns(character)[-1] or _INVISIBLE


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
    return counted(len(marks), "entities") + (f": {listed}" if listed else "")
