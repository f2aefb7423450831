from __future__ import annotations

import pytest

from disconer.evaluate import Counts


def test_ratios() -> None:
    counts = Counts.of({1, 2, 3, 4}, {3, 4, 5})
    assert counts == Counts(gold=4, found=2, predicted=3, right=2)
    assert counts.precision == pytest.approx(2 / 3)
    assert counts.recall == pytest.approx(1 / 2)
    assert counts.f1 == pytest.approx(4 / 7)


def test_f1_is_the_harmonic_mean_where_found_and_right_differ() -> None:
    counts = Counts(gold=4, found=4, predicted=4, right=1)
    assert (counts.precision, counts.recall, counts.f1) == (0.25, 1.0, pytest.approx(0.4))


@pytest.mark.parametrize("counts", [Counts(), Counts(gold=3), Counts(predicted=3), Counts(gold=2, predicted=2)])
def test_ratios_of_nothing_are_zero(counts: Counts) -> None:
    assert (counts.precision, counts.recall, counts.f1) == (0.0, 0.0, 0.0)
    assert counts.is_empty == (counts == Counts())
