"""Dependencies: arcs over the words of a sentence, from each head to the words that depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from disconer.core.types import Document, Sentence
from disconer.render.escape import escaped
from disconer.render.lines import Stretch, pack, wrapped_lines
from disconer.render.svg.marks import CAPTION_COLUMN, COLUMN
from disconer.render.svg.rows import Row

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
