"""From a network's scores to probabilities, and from the product of these to the probability of being correct, by
calibration. No torch here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

import numpy as np

from disconer.nn.reader import Floats

FEWEST = 50  # right and wrong entities each; fewer are too few to calibrate on
_EDGE = 1e-6  # scores are clipped to this distance from 0 and 1, so that log-odds stay finite
_STEPS = 100
_SETTLED = 1e-9


def sigmoid(scores: Floats) -> Floats:
    """Probabilities of scores, without overflow."""
    return ((1 + np.tanh(scores / 2)) / 2).astype(np.float32, copy=False)


def softplus(z: float) -> float:
    """log(1 + e^z), without overflow."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Platt scaling (1999), linear in log-odds: corrects the overconfidence of networks.

    It never changes the order of scores.
    """

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, score: float) -> float:
        if self.slope == 1.0 and self.offset == 0.0:
            return score
        return _probability(self.slope * _log_odds(score) + self.offset)


UNSCALED = ScoreScale()


def fit_scale(scores: Sequence[float], right: Sequence[bool]) -> ScoreScale:
    """The maximum-likelihood scale on held-out scores, by Newton's method.

    Without enough right and wrong entities, or if higher scores are not better, scores are not changed.
    """
    if min(sum(right), len(right) - sum(right)) < FEWEST:
        return UNSCALED
    odds = [_log_odds(score) for score in scores]
    line, loss = UNSCALED, _loss(UNSCALED, odds, right)
    for _ in range(_STEPS):
        if (step := _newton_step(line, odds, right)) is None:
            return UNSCALED
        better = _better(line, step, loss, odds, right)
        if better is None:  # as good as it gets
            break
        line, loss = better
    return line if line.slope > 0 and math.isfinite(line.offset) else UNSCALED


def _newton_step(line: ScoreScale, odds: Sequence[float], right: Sequence[bool]) -> ScoreScale | None:
    """The step of Newton's method, to be subtracted; None where the loss is flat."""
    probabilities = [_probability(line.slope * x + line.offset) for x in odds]
    errors = [probability - truth for probability, truth in zip(probabilities, right, strict=True)]
    weights = [probability * (1 - probability) for probability in probabilities]
    by_slope, by_offset = sum(map(mul, errors, odds)), sum(errors)  # the gradient
    a = sum(w * x * x for w, x in zip(weights, odds, strict=True))  # the Hessian [[a, b], [b, c]]
    b, c = sum(map(mul, weights, odds)), sum(weights)
    determinant = a * c - b * b
    if determinant <= 0:
        return None
    return ScoreScale(
        (c * by_slope - b * by_offset) / determinant,
        (a * by_offset - b * by_slope) / determinant,
    )


def _better(
    line: ScoreScale, step: ScoreScale, loss: float, odds: Sequence[float], right: Sequence[bool]
) -> tuple[ScoreScale, float] | None:
    """The line after a step, or after half of it, a quarter, …: full steps overshoot if most scores are near 1."""
    factor = 1.0
    while factor * (abs(step.slope) + abs(step.offset)) > _SETTLED:
        moved = ScoreScale(line.slope - factor * step.slope, line.offset - factor * step.offset)
        if (lower := _loss(moved, odds, right)) < loss:
            return moved, lower
        factor /= 2
    return None


def _loss(line: ScoreScale, odds: Sequence[float], right: Sequence[bool]) -> float:
    """Minus the log-likelihood."""
    return sum(
        softplus(-z if truth else z)
        for z, truth in ((line.slope * x + line.offset, truth) for x, truth in zip(odds, right, strict=True))
    )


def _probability(log_odds: float) -> float:
    """The inverse of `_log_odds`, without overflow."""
    return (1 + math.tanh(log_odds / 2)) / 2


def _log_odds(score: float) -> float:
    if not _EDGE < score < 1 - _EDGE:
        score = min(max(score, _EDGE), 1 - _EDGE)
    return math.log(score / (1 - score))
