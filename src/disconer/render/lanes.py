"""Lanes: rows under a line of text, in each of which no two entities meet."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

MAX_LANES = 30  # what lies deeper is counted, not drawn: a thousand annotations of one word would bury the text

Reach = tuple[float, float]  # from where to where something is drawn, in whatever unit


def pack(reaches: Sequence[Reach], max_lanes: int = MAX_LANES) -> list[int | None]:
    """The lane of each reach: the first with room, where earlier ones choose first.

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
