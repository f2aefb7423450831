from __future__ import annotations

import random
import time

import pytest

from disconer.evaluate import Counts, f1_interval


def noisy(n_documents: int, accuracy: float = 0.7, seed: int = 1) -> list[Counts]:
    """Documents of ten entities, each found with probability `accuracy`."""
    rng = random.Random(seed)
    rights = [sum(rng.random() < accuracy for _ in range(10)) for _ in range(n_documents)]
    return [Counts(10, right, 10, right) for right in rights]


def test_interval_has_the_width_that_theory_gives() -> None:
    low, high = f1_interval(noisy(400))
    half = 1.96 * (0.7 * 0.3 / 4_000) ** 0.5
    assert high - low == pytest.approx(2 * half, rel=0.15)
    assert low < sum(counts.right for counts in noisy(400)) / 4_000 < high


def test_covers_the_truth_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(100):
        low, high = f1_interval(noisy(60, seed=seed), resamples=200)
        covered += low <= 0.7 <= high
    assert 88 <= covered <= 99


def test_many_documents_take_little_time_and_keep_the_width() -> None:
    documents = noisy(20_000)
    start = time.process_time()
    low, high = f1_interval(documents)
    assert time.process_time() - start < 5
    assert high - low == pytest.approx(2 * 1.96 * (0.7 * 0.3 / 200_000) ** 0.5, rel=0.15)


def test_same_seed_same_interval() -> None:
    assert f1_interval(noisy(30), resamples=50) == f1_interval(noisy(30), resamples=50)
    assert f1_interval(noisy(30), resamples=50) != f1_interval(noisy(30), resamples=50, seed=1)


def test_resamples_with_nothing_in_them_are_left_out() -> None:
    rare = [Counts(1, 1, 1, 1)] + [Counts()] * 9
    assert f1_interval(rare) == (1.0, 1.0)


@pytest.mark.parametrize("documents", [[], [Counts(1, 1, 1, 1)], [Counts()] * 5])
def test_no_interval_without_variation_to_see(documents: list[Counts]) -> None:
    assert f1_interval(documents) is None
