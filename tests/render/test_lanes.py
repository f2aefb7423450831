from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from disconer.render.lines import pack

reaches = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def test_crossing_entities_take_two_lanes() -> None:
    assert sorted(lane or 0 for lane in pack([(0, 10), (5, 15)])) == [0, 1]


def test_what_has_no_lane_is_left_out() -> None:
    assert pack([(0, 5)] * 4, max_lanes=3).count(None) == 1


@given(st.lists(reaches, max_size=20))
def test_no_two_in_a_lane_meet_and_no_lane_is_skipped(reaches: list[tuple[int, int]]) -> None:
    lanes = pack(reaches)
    for one, (start, end) in enumerate(reaches):
        others = [reaches[other] for other in range(one) if lanes[other] == lanes[one]]
        assert all(end <= other_start or other_end <= start for other_start, other_end in others)
        in_its_way = {lanes[other] for other in range(one) if reaches[other][0] < end and start < reaches[other][1]}
        assert in_its_way >= set(range(lanes[one] or 0))
