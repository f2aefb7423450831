"""Text cut into lines, the pieces of entities in each line, and lanes in which no two pieces overlap."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from disconer.core.types import Fragment, normalise
from disconer.render.clusters import TAB_WIDTH, columns, is_boundary, outward

MAX_LANES = 30  # deeper pieces are counted, not drawn: a thousand annotations of one word would bury the text

Reach = tuple[float, float]  # start and end of something drawn, in any unit


def pack(reaches: Sequence[Reach], max_lanes: int = MAX_LANES) -> list[int | None]:
    """The lane of each reach: the first with room; earlier reaches choose first.

    None where all lanes are taken. Reaches that only touch may share a lane.

    >>> pack([(0, 4), (6, 9), (12, 15), (0, 12)])
    [0, 0, 0, 1]
    """
    lanes: list[list[Reach]] = []
    chosen: list[int | None] = []
    for reach in reaches:
        lane = next((place for place, taken in enumerate(lanes) if _has_room(taken, reach)), len(lanes))
        if lane == max_lanes:
            chosen.append(None)
            continue
        if lane == len(lanes):
            lanes.append([])
        insort(lanes[lane], reach)
        chosen.append(lane)
    return chosen


def _has_room(taken: list[Reach], reach: Reach) -> bool:
    place = bisect_left(taken, reach)
    before_fits = place == 0 or taken[place - 1][1] <= reach[0]
    return before_fits and (place == len(taken) or reach[1] <= taken[place][0])


Stretch = tuple[int, int]  # a half-open range of the text

_LINE_ENDS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # as `str.splitlines` has them


class Piece(NamedTuple):
    """The part of an entity in one line.

    number: index of the entity.
    fragments: those in the line, or the part of them that is; none where the line lies in a gap of the entity.
    start, end: from its first to its last character here, gaps included.
    from_before, goes_on: the entity started in an earlier line, and continues in a later one.
    """

    number: int
    fragments: tuple[Fragment, ...]
    start: int
    end: int
    from_before: bool
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Line:
    """The range [start, end) of the text, without its line break, and the pieces in it.

    pieces: in the order in which they choose lanes: short ones first, so that brackets nest.
    """

    start: int
    end: int
    pieces: list[Piece]


def text_lines(text: str, window: Stretch | None = None) -> Iterator[Stretch]:
    """The lines of a text, or of a range of it."""
    position, end = window or (0, len(text))
    for line in text[position:end].splitlines(keepends=True):
        yield position, position + len(line.rstrip(_LINE_ENDS))
        position += len(line)


def wrapped_lines(text: str, width: int, window: Stretch | None = None) -> Iterator[Stretch]:
    """The same, cut between words so that no line is wider than `width` columns; long words are cut, too."""
    for start, end in text_lines(text, window):
        if (end - start) * TAB_WIDTH <= width:
            yield start, end  # short enough in any case
        else:
            yield from _wrapped(text, start, end, width)


def _wrapped(text: str, start: int, end: int, width: int) -> Iterator[Stretch]:
    places = columns(text[start:end])
    first = 0
    while places[-1] - places[first] > width:
        last = first
        while places[last + 1] - places[first] <= width:
            last += 1
        cut = _cut(text, start + first, start + last) - start
        yield start + first, start + cut
        first = cut
    if start + first < end or start == end:
        yield start + first, end


def _cut(text: str, first: int, last: int) -> int:
    """The end of a line that starts at `first` and has room up to `last`: after a space, or between characters."""
    if space := max(text.rfind(blank, first, last + 1) for blank in " \t") + 1:
        return space
    cut = last
    while cut > first and not is_boundary(text, cut):
        cut -= 1
    return cut if cut > first else outward(text, first, last + 1)[1]


def lines(text: str, entities: Sequence[Iterable[Stretch]], stretches: Iterable[Stretch]) -> Iterator[Line]:
    """Distribute entities over lines.

    entities: the fragments of each. Those that cut a character in two are widened to the whole character.
    stretches: the lines, in order: `text_lines`, `wrapped_lines`, or sentences.
    """
    waiting = sorted(
        [(normalise(outward(text, *one) for one in own), number) for number, own in enumerate(entities)], reverse=True
    )
    begun: list[tuple[tuple[Fragment, ...], int]] = []
    for start, end in stretches:
        while waiting and waiting[-1][0][0].start < end:
            begun.append(waiting.pop())
        begun = [one for one in begun if one[0][-1].end > start]
        pieces = [piece for own, number in begun if (piece := _piece(number, own, start, end))]
        yield Line(start, end, sorted(pieces, key=_turn))


def _turn(piece: Piece) -> tuple[int, int, int]:
    return piece.end - piece.start, piece.start, piece.number


def _piece(number: int, fragments: tuple[Fragment, ...], start: int, end: int) -> Piece | None:
    """None where the line is empty, or touches only the line break within a fragment."""
    from_before, goes_on = fragments[0].start < start, fragments[-1].end > end
    here = tuple(
        Fragment(max(one.start, start), min(one.end, end)) for one in fragments if one.start < end and start < one.end
    )
    first = start if from_before else here[0].start
    last = end if goes_on else here[-1].end
    return Piece(number, here, first, last, from_before, goes_on) if first < last else None


class Placed(NamedTuple):
    """A piece and its lane."""

    lane: int
    piece: Piece


class Part(NamedTuple):
    """A piece over a segment: one of its fragments, or a gap between them."""

    placed: Placed
    is_fragment: bool


class Segment(NamedTuple):
    """The range [start, end) of the text and all pieces under it, by lane."""

    start: int
    end: int
    parts: list[Part]


def segments(line: Line, placed: Iterable[Placed]) -> Iterator[Segment]:
    """All segments of a line, in order."""
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
        for lane, enters in sorted(inside[edge], key=lambda change: change[1]):  # leave first, as a lane may be reused
            (in_fragment.add if enters else in_fragment.discard)(lane)
