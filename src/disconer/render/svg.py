"""Documents as one SVG picture, for papers and slides: fixed-width text, bars and captions under it, arcs over it.

The width of a letter is not known here, so each part of the text is stretched to the columns that it takes
(`textLength`); bars are then exact in every viewer and with every font.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.render.clusters import columns
from disconer.render.lines import Line, Stretch, lines, pack, wrapped_lines
from disconer.render.marks import Mark
from disconer.render.stylesheet import Palette, escaped
from disconer.render.svg_marks import CAPTION_COLUMN, COLUMN, Row, SvgMarks, Unit, row_of, svg_style

LEVEL = 17  # from arc to arc
FIRST_LEVEL = 14  # from the top of the words to the lowest arc
RELATION_RISE = 4  # from an arc to the baseline of its relation
ABOVE = 14  # room for the relation of the highest arc
CORNER = 6
ASIDE = 5  # horizontal offset of outgoing arcs, so that they do not touch incoming ones
GAP = 4  # between the relations of two arcs side by side
MAX_LEVELS = 40  # higher arcs are left out
_HEAD = "l-3 -6h6z"  # of an arrow, from its tip


class Arc(NamedTuple):
    """From a head to a word, or down to a root (`tail` is None), in pixels."""

    tail: float | None
    tip: float
    relation: str

    @property
    def middle(self) -> float:
        return self.tip if self.tail is None else (self.tail + self.tip) / 2

    @property
    def reach(self) -> tuple[float, float]:
        """The horizontal extent of the arc and its relation."""
        half = len(self.relation) * CAPTION_COLUMN / 2
        ends = [self.middle - half - GAP, self.middle + half + GAP, self.tip]
        if self.tail is not None:
            ends.append(self.tail)
        return min(ends), max(ends)


class Arcs:
    """The arcs of a sentence, short ones low, in as many levels as they need."""

    def __init__(self, sentence: Sentence, row: Row, *, top: float) -> None:
        self._drawn = _levelled(list(_arcs(sentence, row)))
        n_levels = 1 + max((level for _, level in self._drawn), default=-1)
        self.height = ABOVE + FIRST_LEVEL + (n_levels - 1) * LEVEL if n_levels else 0.0
        self.left = min((arc.reach[0] for arc, _ in self._drawn), default=0.0)
        self.right = max((arc.reach[1] for arc, _ in self._drawn), default=0.0)
        self._foot = top + self.height

    def shapes(self) -> Iterator[str]:
        for arc, level in self._drawn:
            yield f'<path class="a" d="{_path(arc, self._top(level), self._foot)}"/>'
            yield f'<path class="v" d="M{arc.tip:g} {self._foot:g}{_HEAD}"/>'
        yield '<g paint-order="stroke">'  # a background-coloured outline makes the relation readable
        for arc, level in self._drawn:
            if arc.relation:
                y = self._top(level) - RELATION_RISE
                yield f'<text class="n r" x="{arc.middle:g}" y="{y:g}">{escaped(arc.relation)}</text>'
        yield "</g>"

    def _top(self, level: int) -> float:
        return self._foot - FIRST_LEVEL - level * LEVEL


def _levelled(arcs: list[Arc]) -> list[tuple[Arc, int]]:
    """Each arc in the lowest level with room, short ones first; a root above all that passes over it."""
    proper = sorted((arc for arc in arcs if arc.tail is not None), key=lambda arc: arc.reach[1] - arc.reach[0])
    levels = pack([arc.reach for arc in proper], MAX_LEVELS)
    drawn = [(arc, level) for arc, level in zip(proper, levels, strict=True) if level is not None]
    for root in (arc for arc in arcs if arc.tail is None):
        left, right = root.reach
        below = (level for arc, level in drawn if arc.reach[0] < right and left < arc.reach[1])
        drawn.append((root, 1 + max(below, default=-1)))
    return drawn


def _arcs(sentence: Sentence, row: Row) -> Iterator[Arc]:
    heads, relations = sentence.heads or (), sentence.relations or [""] * len(sentence.tokens)
    middles = [_middle(row, *token) for token in sentence.tokens]
    for head, tip, relation in zip(heads, middles, relations, strict=True):
        if head < 0:
            yield Arc(None, tip, relation)
        else:
            yield Arc(middles[head] + (ASIDE if tip > middles[head] else -ASIDE), tip, relation)


def _middle(row: Row, start: int, end: int) -> float:
    left, right = row.spans(start, end)[0]
    return (left + right) / 2 * COLUMN


def _path(arc: Arc, top: float, foot: float) -> str:
    if arc.tail is None:
        return f"M{arc.tip:g} {top:g}V{foot:g}"
    turn = CORNER if arc.tail < arc.tip else -CORNER
    if abs(arc.tip - arc.tail) < 2 * CORNER:
        turn = int((arc.tip - arc.tail) / 2)
    return (
        f"M{arc.tail:g} {foot:g}V{top + CORNER:g}q0 {-CORNER} {turn} {-CORNER}"
        f"H{arc.tip - turn:g}q{turn} 0 {turn} {CORNER}V{foot:g}"
    )


def sentence_lines(document: Document, width: int) -> Iterator[Stretch]:
    """One unwrapped line per sentence with heads; other text is wrapped to `width`."""
    position = 0
    for sentence in document.sentences or ():
        if sentence.heads is not None:
            yield from _rest(document.text, (position, sentence.start), width)
            yield sentence.start, sentence.end
            position = sentence.end
    yield from _rest(document.text, (position, len(document.text)), width)


def _rest(text: str, window: Stretch, width: int) -> Iterator[Stretch]:
    if not text[slice(*window)].isspace():
        yield from wrapped_lines(text, width, window)


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
