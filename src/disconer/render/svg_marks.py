"""The rows, bars, captions, sizes and styles of SVG pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from disconer.core.counting import counted
from disconer.render.clusters import columns, has_right_to_left, runs_right_to_left, visual_order
from disconer.render.lines import Line, Piece, Reach, pack
from disconer.render.marks import Mark, Standing
from disconer.render.stylesheet import DARK, LIGHT, THEMES, Palette, Theme, escaped

_WORDS = re.compile(r"\s+|\S+")


class Unit(NamedTuple):
    """A range [start, end) of the text that is drawn as a whole, from column `left` to column `right`."""

    start: int
    end: int
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Row:
    """The units of a line, in the order of the text, and whether the line as a whole runs from right to left."""

    units: list[Unit]
    right_to_left: bool

    @property
    def width(self) -> int:
        return max((unit.right for unit in self.units), default=0)

    def spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """The columns of a range that starts and ends at units: from left to right, one span if all are adjacent."""
        own = sorted((unit.left, unit.right) for unit in self.units if start <= unit.start and unit.end <= end)
        joined: list[tuple[int, int]] = []
        for left, right in own:
            if joined and joined[-1][1] == left:
                joined[-1] = (joined[-1][0], right)
            else:
                joined.append((left, max(right, left + 1)))  # zero-width text still gets a bar
        return joined


def row_of(text: str, line: Line, tokens: Iterable[tuple[int, int]] = ()) -> Row:
    """Lay out a line, cut wherever one of its pieces, fragments or `tokens` starts or ends."""
    cuts = {line.start, line.end}
    for piece in line.pieces:
        cuts.update((piece.start, piece.end), *piece.fragments)
    cuts.update(edge for token in tokens for edge in token)
    shown = text[line.start : line.end]
    if has_right_to_left(shown):
        cuts.update(line.start + match.start() for match in _WORDS.finditer(shown))
    return Row(_placed(text, sorted(cuts), columns(shown), line.start), runs_right_to_left(shown))


def _placed(text: str, cuts: Sequence[int], places: Sequence[int], offset: int) -> list[Unit]:
    stretches = list(pairwise(cuts))
    left, units = 0, []
    for number in visual_order([text[start:end] for start, end in stretches]):
        start, end = stretches[number]
        width = places[end - offset] - places[start - offset]
        units.append(Unit(start, end, left, left + width))
        left += width
    return sorted(units)


TEXT_SIZE, CAPTION_SIZE = 15, 11
COLUMN, CAPTION_COLUMN = 0.6 * TEXT_SIZE, 0.6 * CAPTION_SIZE  # most fixed-width fonts are as wide as this

_SHAPES = f"""\
.disconer-svg {{ font: {TEXT_SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Noto Sans Mono", monospace; }}
.disconer-svg text {{ white-space: pre; }}
.disconer-svg .h, .disconer-svg .l, .disconer-svg .n {{ font-size: {CAPTION_SIZE}px; }}
.disconer-svg .l {{ font-weight: 600; }}
.disconer-svg .g, .disconer-svg .b, .disconer-svg .a {{ fill: none; }}
.disconer-svg .b {{ stroke-width: 3px; }}
.disconer-svg .wrong .b {{ stroke-dasharray: 5 3; }}
.disconer-svg .missed .b {{ stroke-width: 5px; }}
.disconer-svg .missed .i {{ stroke-width: 3px; }}
.disconer-svg .t {{ opacity: 0; }}
.disconer-svg .e {{ outline: none; }}
.disconer-svg .e:hover .t, .disconer-svg .e:focus .t {{ opacity: .22; }}
.disconer-svg .e:hover .b, .disconer-svg .e:focus .b {{ stroke-width: 5px; }}
.disconer-svg .e:hover .g, .disconer-svg .e:focus .g {{ stroke-width: 2px; }}
.disconer-svg .r {{ stroke-width: 3px; text-anchor: middle; }}
"""


def svg_style(theme: str = "auto") -> str:
    """All rules of a picture. "auto": dark where the reader prefers that, but light on paper."""
    if theme != "auto":
        return _SHAPES + _colours(THEMES[theme])
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{_colours(DARK)}}}\n"
    return _SHAPES + _colours(LIGHT) + dark


def _colours(theme: Theme) -> str:
    rules = [
        f".disconer-svg .p {{ fill: {theme.paper}; }}",
        f".disconer-svg text {{ fill: {theme.ink}; }}",
        f".disconer-svg .h, .disconer-svg .n, .disconer-svg .r {{ fill: {theme.faint}; }}",
        f".disconer-svg .a {{ stroke: {theme.faint}; }} .disconer-svg .v {{ fill: {theme.faint}; }}",
        f".disconer-svg .r {{ stroke: {theme.paper}; }}",
        f".disconer-svg .missed .i {{ stroke: {theme.paper}; }}",
    ]
    named = {f"c{number}": colour for number, colour in enumerate(theme.marks)}
    named |= {"right": theme.right, "missed": theme.missed, "wrong": theme.wrong}
    for name, colour in named.items():
        own = f".disconer-svg .{name}"
        rules.append(f"{own} .b, {own} .g {{ stroke: {colour}; }} {own} .t, {own} .l {{ fill: {colour}; }}")
    return "\n".join(rules) + "\n"


FIRST_LANE, LANE = 10, 20  # from the baseline of the text to the first bar, and from bar to bar
HALF = 0.5  # of a thin line, so that it falls on whole pixels
TICK = 5  # how far the ends of an entity stick out above its bar
CAPTION_DROP = 12.5  # from a bar to the baseline of its caption
CAPTION_GAP = 6  # between two captions of a lane


class SvgMarks:
    """Collects the shapes of each mark, line by line; all of a mark is one group, which lights up as a whole."""

    def __init__(self, marks: Sequence[Mark], palette: Palette) -> None:
        self._marks, self._palette = marks, palette
        self._shapes: dict[int, list[str]] = {}
        self._notes: list[str] = []

    def add(self, row: Row, line: Line, baseline: float) -> tuple[float, float]:
        """Draw what lies under a line; returns its depth and right edge."""
        reaches = [self._reach(row, piece) for piece in line.pieces]
        lanes = pack(reaches)
        for piece, lane in zip(line.pieces, lanes, strict=True):
            if lane is not None:
                bar = baseline + FIRST_LANE + lane * LANE
                self._shapes.setdefault(piece.number, []).extend(self._piece(row, piece, baseline, bar))
        depth = LANE * max((lane + 1 for lane in lanes if lane is not None), default=0)
        if hidden := lanes.count(None):
            depth += LANE
            note = f"+ {counted(hidden, 'more entities')} here"
            self._notes.append(f'<text class="n" x="0" y="{baseline + depth:g}">{note}</text>')
        return depth, max((right for _, right in reaches), default=0)

    def groups(self) -> Iterator[str]:
        yield from self._notes
        for number, shapes in sorted(self._shapes.items()):
            mark = self._marks[number]
            name = f"c{self._palette.number(mark.entity.label)}" if mark.standing is Standing.PLAIN else mark.standing
            title = f"<title>{escaped(mark.description)}</title>"
            yield f'<g class="e {name}" tabindex="0">{title}\n' + "\n".join(shapes) + "\n</g>"

    def _reach(self, row: Row, piece: Piece) -> Reach:
        left, right = _reach(row, piece)
        if piece.fragments:
            right = max(right, _caption_left(row, piece) + _width(self._caption(piece)) + CAPTION_GAP)
        return left, right

    def _piece(self, row: Row, piece: Piece, baseline: float, bar: float) -> Iterator[str]:
        spans = _spans(row, piece)
        if thin := _ends(row, piece, bar) + _gaps(_reach(row, piece), spans, bar):
            yield f'<path class="g" d="{thin}"/>'
        if not spans:
            return
        path = "".join(f"M{left:g} {bar:g}H{right:g}" for left, right in spans)
        yield f'<path class="b" d="{path}"/>'
        if self._marks[piece.number].standing is Standing.MISSED:
            yield f'<path class="i" d="{path}"/>'
        y = baseline - TEXT_SIZE
        for left, right in spans:
            yield f'<rect class="t" x="{left:g}" y="{y:g}" width="{right - left:g}" height="{TEXT_SIZE + 5}" rx="2"/>'
        caption = self._caption(piece)
        place = f'x="{_caption_left(row, piece):g}" y="{bar + CAPTION_DROP:g}" textLength="{_width(caption):g}"'
        yield f'<text class="l" {place}>{escaped(caption)}</text>'

    def _caption(self, piece: Piece) -> str:
        caption = self._marks[piece.number].caption
        return f"…{caption}" if piece.from_before else caption


def _ends(row: Row, piece: Piece, bar: float) -> str:
    """A tick at each end of the entity; where it continues in another line, the end stays open."""
    left, right = _reach(row, piece)
    open_left, open_right = piece.from_before, piece.goes_on
    if row.right_to_left:
        open_left, open_right = open_right, open_left
    start = "" if open_left else f"M{left + HALF:g} {bar - TICK:g}v{TICK}"
    return start + ("" if open_right else f"M{right - HALF:g} {bar - TICK:g}v{TICK}")


def _gaps(reach: Reach, spans: list[Reach], bar: float) -> str:
    path, position = "", reach[0]
    for left, right in [*spans, (reach[1], reach[1])]:
        if position < left:
            path += f"M{position:g} {bar:g}H{left:g}"
        position = right
    return path


def _spans(row: Row, piece: Piece) -> list[Reach]:
    """Where its fragments are."""
    spans = sorted(span for fragment in piece.fragments for span in row.spans(*fragment))
    return [(left * COLUMN, right * COLUMN) for left, right in spans]


def _reach(row: Row, piece: Piece) -> Reach:
    spans = row.spans(piece.start, piece.end)
    return spans[0][0] * COLUMN, spans[-1][1] * COLUMN


def _caption_left(row: Row, piece: Piece) -> float:
    return _spans(row, piece)[0][0]


def _width(caption: str) -> float:
    return columns(caption)[-1] * CAPTION_COLUMN
