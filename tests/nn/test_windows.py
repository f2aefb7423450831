from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disconer import Sentence
from disconer.core.types import Entity
from disconer.nn.encoders.transformer import Subwords
from disconer.nn.windows import LONGEST, Window, cheapest_batches, passages, shortened, windows
from disconer.text.alignment import TokenEntity


def sentence_of(n_words: int, heads: tuple[int, ...] | None = None) -> Sentence:
    """Words of one character, a space between them."""
    return Sentence(0, max(1, 2 * n_words), tuple((2 * n, 2 * n + 1) for n in range(n_words)), heads)


def subwords_of(counts: list[int]) -> Subwords:
    """So many subwords a word, numbered through."""
    end = np.cumsum(counts, dtype=np.int64)
    return Subwords(np.arange(end[-1] if counts else 0), end - counts, end)


def cut(counts: list[int], *, max_subwords: int, max_words: int = 10**6) -> list[Window]:
    return windows(sentence_of(len(counts)), subwords_of(counts), max_subwords=max_subwords, max_words=max_words)


counts = st.lists(st.integers(0, 4) | st.integers(0, 30), max_size=60)
limits = st.tuples(st.integers(1, 20), st.integers(1, 20))


@settings(max_examples=300)
@given(counts=counts, limits=limits)
def test_every_word_is_owned_once_by_a_window_that_has_it(counts: list[int], limits: tuple[int, int]) -> None:
    found = cut(counts, max_subwords=limits[0], max_words=limits[1])
    owned = [word for window in found for word in range(*window.own)]
    assert owned == list(range(len(counts)))
    for window in found:
        assert window.start <= window.own[0] < window.own[1] <= window.end
        assert [window.owns(word - window.start) for word in range(window.start, window.end)] == [
            window.own[0] <= word < window.own[1] for word in range(window.start, window.end)
        ]


@settings(max_examples=300)
@given(counts=counts, limits=limits)
def test_windows_keep_to_the_limits(counts: list[int], limits: tuple[int, int]) -> None:
    found = cut(counts, max_subwords=limits[0], max_words=limits[1])
    for window in found:
        assert 1 <= len(window) <= limits[1]
        assert len(window.subwords.ids) <= limits[0]
    for window, following in pairwise(found):
        assert window.start < following.start <= window.end < following.end


@given(counts=counts, limits=limits)
def test_words_keep_their_subwords(counts: list[int], limits: tuple[int, int]) -> None:
    whole = subwords_of(counts)
    for window in cut(counts, max_subwords=limits[0], max_words=limits[1]):
        for place, word in enumerate(range(window.start, window.end)):
            own = window.subwords.ids[window.subwords.first[place] : window.subwords.end[place]]
            wanted = whole.ids[whole.first[word] : whole.end[word]]
            if counts[word] <= limits[0]:
                assert own.tolist() == wanted.tolist()
            else:  # a word that alone is too long keeps its first subwords
                assert own.tolist() == wanted[: limits[0]].tolist()


@pytest.mark.parametrize(("n_words", "n_windows"), [(0, 0), (1, 1), (10, 1), (11, 2), (100, 13)])
def test_how_many(n_words: int, n_windows: int) -> None:
    assert len(cut([1] * n_words, max_subwords=10)) == n_windows


def test_windows_overlap_by_a_quarter_and_part_the_overlap() -> None:
    found = cut([1] * 20, max_subwords=8)
    assert [(window.start, window.end) for window in found] == [(0, 8), (6, 14), (12, 20)]
    assert [window.own for window in found] == [(0, 7), (7, 13), (13, 20)]


def test_a_long_word_does_not_leave_its_neighbours_in_tiny_windows() -> None:
    found = cut([1] * 10 + [99] + [1] * 10, max_subwords=10)
    assert [(window.start, window.end) for window in found] == [(0, 10), (10, 11), (11, 21)]


def test_a_hundred_thousand_words() -> None:
    found = cut([1] * 10**5, max_subwords=510, max_words=512)
    assert found[-1].end == 10**5
    assert len(found) < 10**5 / 300


def test_of_a_word_with_very_many_subwords_the_first_are_read() -> None:
    read = shortened(subwords_of([2, 100, 0, 3]))
    assert read.ids.tolist() == [0, 1, *range(2, 2 + LONGEST), 102, 103, 104]
    assert read.first.tolist() == [0, 2, 2 + LONGEST, 2 + LONGEST]
    assert read.end.tolist() == [2, 2 + LONGEST, 2 + LONGEST, 5 + LONGEST]
    few = subwords_of([2, LONGEST])
    assert shortened(few) is few


def test_a_subword_that_reaches_into_the_next_word_stays() -> None:
    ids = np.arange(LONGEST + 4)
    read = shortened(Subwords(ids, np.array([0, LONGEST + 2]), np.array([LONGEST + 3, LONGEST + 4])))
    assert read.ids.tolist() == [*range(LONGEST), LONGEST + 2, LONGEST + 3]
    assert (read.first.tolist(), read.end.tolist()) == ([0, LONGEST], [LONGEST + 1, LONGEST + 2])


@given(sizes=st.lists(st.integers(0, 30), max_size=40), most=st.integers(0, 60))
def test_passages_take_all_windows_in_their_order(sizes: list[int], most: int) -> None:
    cut = passages(sizes, most)
    assert [number for passage in cut for number in passage] == list(range(len(sizes)))
    for passage in cut:
        assert len(passage) == 1 or sum(sizes[number] for number in passage) <= most


def test_passages_are_few_and_of_like_size() -> None:
    assert passages([10] * 10, 40) == [range(4), range(4, 8), range(8, 10)]
    assert passages([10] * 10, 60) == [range(5), range(5, 10)]
    assert passages([10, 70, 10], 40) == [range(1), range(1, 2), range(2, 3)]


def test_without_context_each_window_is_a_passage() -> None:
    assert passages([3, 0, 5], 0) == [range(1), range(1, 2), range(2, 3)]


def test_heads_that_lie_outside_are_roots() -> None:
    sentence = sentence_of(6, (-1, 0, 1, 2, 5, 0))
    found = windows(sentence, subwords_of([1] * 6), max_subwords=4)
    assert [(window.start, window.end, window.heads) for window in found] == [
        (0, 4, (-1, 0, 1, 2)),
        (3, 6, (-1, 2, -1)),
    ]
    assert windows(sentence_of(2), subwords_of([1, 1]), max_subwords=4)[0].heads is None


def test_entities_within() -> None:
    def entity(*ranges: tuple[int, int]) -> TokenEntity:
        return TokenEntity("ADR", ranges, Entity("ADR", ((0, 1),)))

    window = Window(sentence_of(10), 3, 8, (3, 8), subwords_of([1] * 5))
    inside, outside = entity((3, 4), (6, 8)), [entity((2, 4)), entity((3, 4), (8, 9))]
    assert [found.ranges for found in window.within([inside, *outside])] == [((0, 1), (3, 5))]


# Examples


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
