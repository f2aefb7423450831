from __future__ import annotations

import random

import pytest

from disconer.evaluate import Counts
from disconer.evaluate.bootstrap import difference


def documents(n: int, right: float, seed: int) -> list[Counts]:
    """Documents of ten entities, of which some share is found."""
    rng = random.Random(seed)
    found = [sum(rng.random() < right for _ in range(10)) for _ in range(n)]
    return [Counts(10, one, 10, one) for one in found]


def test_the_difference_is_that_of_the_whole_and_has_a_sign() -> None:
    better, worse = documents(200, 0.8, 1), documents(200, 0.7, 2)
    found, opposite = difference(better, worse), difference(worse, better)
    assert found is not None
    assert opposite is not None
    assert found.f1 == pytest.approx(sum(better, Counts()).f1 - sum(worse, Counts()).f1)
    assert 0 < found.interval.low < found.f1 < found.interval.high
    assert found.p < 0.01
    assert (opposite.f1, opposite.interval.high) == pytest.approx((-found.f1, -found.interval.low))


def test_equal_systems_do_not_differ() -> None:
    same = documents(50, 0.7, 1)
    found = difference(same, same)
    assert found is not None
    assert (found.f1, found.interval, found.p) == (0, (0, 0), 1)


def test_alike_systems_seldom_differ() -> None:
    """Of pairs that do not differ, p is below 0.05 in about one of twenty; of 60, the expectation is 3."""
    ps = [difference(documents(60, 0.7, 2 * n), documents(60, 0.7, 2 * n + 1), resamples=300) for n in range(60)]
    assert sum(one is not None and one.p < 0.05 for one in ps) <= 8


def test_many_documents_are_grouped_and_one_is_too_few() -> None:
    better, worse = documents(2500, 0.75, 1), documents(2500, 0.7, 2)
    found = difference(better, worse)
    assert found is not None
    assert found.f1 == pytest.approx(sum(better, Counts()).f1 - sum(worse, Counts()).f1)
    assert difference(better[:1], worse[:1]) is None
