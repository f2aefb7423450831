"""A line cut wherever a fragment or a gap begins or ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from disconer.render.lines import Line, Piece


class Placed(NamedTuple):
    """A piece and its lane."""

    lane: int
    piece: Piece


class Part(NamedTuple):
    """What a piece is over a segment: one of its fragments, or a gap between them."""

    placed: Placed
    is_fragment: bool


class Segment(NamedTuple):
    """The stretch [start, end) of the text and all that lies under it, by lane."""

    start: int
    end: int
    parts: list[Part]


def segments(line: Line, placed: Iterable[Placed]) -> Iterator[Segment]:
    """All of a line, in order."""
    begin: dict[int, list[Placed]] = defaultdict(list)
    finish: dict[int, list[Placed]] = defaultdict(list)
    inside: dict[int, list[tuple[int, bool]]] = defaultdict(list)  # lanes that enter or leave a fragment
    for one in placed:
        begin[one.piece.start].append(one)
        finish[one.piece.end].append(one)
        for start, end in one.piece.fragments:
            inside[start].append((one.lane, True))
            inside[end].append((one.lane, False))
    open_lanes: dict[int, Placed] = {}
    in_fragment: set[int] = set()
    position = line.start
    for edge in sorted({*begin, *finish, *inside, line.end}):
        if position < edge:
            parts = [Part(open_lanes[lane], lane in in_fragment) for lane in sorted(open_lanes)]
            yield Segment(position, edge, parts)
            position = edge
        for one in finish[edge]:
            del open_lanes[one.lane]
        open_lanes |= {one.lane: one for one in begin[edge]}
        for lane, enters in sorted(inside[edge], key=lambda change: change[1]):  # leave first, as a lane is used again
            (in_fragment.add if enters else in_fragment.discard)(lane)
