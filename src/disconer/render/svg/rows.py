"""A line of text in a fixed-width font: the columns of each part.

Fonts are not measured: a letter takes one column, a wide character two, an accent none, and the picture stretches
each part to exactly that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from disconer.render.clusters import columns, has_right_to_left, runs_right_to_left, visual_order
from disconer.render.lines import Line

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
