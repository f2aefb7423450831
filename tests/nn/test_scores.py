from __future__ import annotations

import math
import random

import numpy as np
import pytest

from disconer.nn.scores import FEWEST, UNSCALED, ScoreScale, fit_scale, sigmoid, softplus


def sample(slope: float, offset: float, n: int = 20_000) -> tuple[list[float], list[bool]]:
    """Scores, and truths that come true as often as a scale says."""
    rng = random.Random(1)
    scores = [rng.uniform(0.02, 0.98) for _ in range(n)]
    return scores, [rng.random() < ScoreScale(slope, offset)(score) for score in scores]


@pytest.mark.parametrize(("slope", "offset"), [(0.5, -0.4), (1.0, 0.0), (2.0, 1.0)])
def test_the_scale_that_made_the_truths_is_found(slope: float, offset: float) -> None:
    fitted = fit_scale(*sample(slope, offset))
    assert fitted.slope == pytest.approx(slope, abs=0.08)
    assert fitted.offset == pytest.approx(offset, abs=0.08)


def test_scaled_scores_are_as_often_right_as_they_say() -> None:
    scores, right = sample(0.6, -0.3)
    scale = fit_scale(scores, right)
    for low in (0.2, 0.4, 0.6):
        chosen = [truth for score, truth in zip(scores, right, strict=True) if low <= scale(score) < low + 0.2]
        assert sum(chosen) / len(chosen) == pytest.approx(low + 0.1, abs=0.03)


def test_order_and_limits_are_kept() -> None:
    scale = ScoreScale(0.7, -0.3)
    scaled = [scale(score) for score in (0.0, 1e-9, 0.1, 0.5, 0.9, 1.0)]
    assert scaled == sorted(scaled)
    assert all(0 <= score <= 1 and math.isfinite(score) for score in scaled)
    assert UNSCALED(0.123) == 0.123


def test_too_little_or_misleading_evidence_changes_nothing() -> None:
    assert fit_scale([0.9] * 10, [True] * 10) == UNSCALED
    scores, right = sample(1.0, 0.0)
    assert fit_scale(scores, [not truth for truth in right]) == UNSCALED
    assert fit_scale([0.5] * 4 * FEWEST, [True, False] * 2 * FEWEST) == UNSCALED


def test_scores_that_crowd_at_one_are_scaled_too() -> None:
    """A network that is all but certain of everything, and often wrong."""
    rng = random.Random(2)
    scores = [1 - 10 ** rng.uniform(-6, -2) for _ in range(20_000)]
    fitted = fit_scale(scores, [rng.random() < ScoreScale(0.2, 0.3)(score) for score in scores])
    assert fitted.slope == pytest.approx(0.2, abs=0.03)
    assert fitted.offset == pytest.approx(0.3, abs=0.25)


@pytest.mark.filterwarnings("error")
def test_extreme_scores_overflow_nowhere() -> None:
    scores = np.array([-1e4, -2, 0, 2, 1e4], dtype=np.float32)
    expected = [0, 1 / (1 + math.e**2), 0.5, 1 / (1 + math.e**-2), 1]
    assert sigmoid(scores).dtype == np.float32
    assert sigmoid(scores).tolist() == pytest.approx(expected)
    assert [softplus(z) for z in (-1e4, 0.0, 1e4)] == pytest.approx([0, math.log(2), 1e4])
