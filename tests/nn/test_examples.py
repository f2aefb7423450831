from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from disconer.nn.windows import cheapest_batches

MOST, OVERHEAD = 20, 7


def cost(batches: list[list[int]], lengths: list[int]) -> int:
    return sum(OVERHEAD + len(batch) * max(lengths[position] for position in batch) for batch in batches)


def all_cuts(order: list[int]) -> list[list[list[int]]]:
    """Every way to cut a row into stretches."""
    places = range(1, len(order))
    cuts = [cut for size in range(len(order)) for cut in combinations(places, size)]
    return [[order[a:b] for a, b in zip((0, *cut), (*cut, len(order)), strict=True)] for cut in cuts]


@given(st.lists(st.integers(1, 25), min_size=1, max_size=8))
def test_no_cut_is_cheaper(lengths: list[int]) -> None:
    batches = cheapest_batches(lengths, MOST, OVERHEAD)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))

    def fits(batch: list[int]) -> bool:
        return len(batch) == 1 or len(batch) * max(lengths[position] for position in batch) <= MOST

    assert all(map(fits, batches))
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    assert cost(batches, lengths) == min(cost(cut, lengths) for cut in all_cuts(order) if all(map(fits, cut)))


def test_nothing_makes_no_batches() -> None:
    assert cheapest_batches([], MOST, OVERHEAD) == []
