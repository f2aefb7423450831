"""Scores that mean something: from the product of a network's probabilities to the chance of being right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

FEWEST = 50  # right and wrong entities each; fewer say too little to scale by
_EDGE = 1e-6  # scores this close to 0 or 1 are taken as this far from it: their log-odds stay finite
_STEPS = 100
_SETTLED = 1e-9


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """A straight line through log-odds (Platt 1999): networks are surer than they should be, and this takes it back.

    The order of scores never changes, only their size.
    """

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, score: float) -> float:
        if self == UNSCALED:
            return score
        return _chance(self.slope * _log_odds(score) + self.offset)


UNSCALED = ScoreScale()


def fit_scale(scores: Sequence[float], right: Sequence[bool]) -> ScoreScale:
    """The scale under which held-out scores are likeliest, by Newton's method.

    Without enough right and wrong entities, or where higher scores are not better, scores stay as they are.
    """
    if min(sum(right), len(right) - sum(right)) < FEWEST:
        return UNSCALED
    odds = [_log_odds(score) for score in scores]
    slope, offset = 1.0, 0.0
    for _ in range(_STEPS):
        chances = [_chance(slope * x + offset) for x in odds]
        errors = [chance - truth for chance, truth in zip(chances, right, strict=True)]
        weights = [chance * (1 - chance) for chance in chances]
        by_slope, by_offset = sum(map(mul, errors, odds)), sum(errors)  # the gradient
        a = sum(w * x * x for w, x in zip(weights, odds, strict=True))  # the Hessian [[a, b], [b, c]]
        b, c = sum(map(mul, weights, odds)), sum(weights)
        determinant = a * c - b * b
        if determinant <= 0:
            return UNSCALED
        slope_step = (c * by_slope - b * by_offset) / determinant
        offset_step = (a * by_offset - b * by_slope) / determinant
        slope, offset = slope - slope_step, offset - offset_step
        if abs(slope_step) + abs(offset_step) < _SETTLED:
            break
    return ScoreScale(slope, offset) if slope > 0 and math.isfinite(offset) else UNSCALED


def _chance(log_odds: float) -> float:
    """The inverse of `_log_odds`, without overflow."""
    return (1 + math.tanh(log_odds / 2)) / 2


def _log_odds(score: float) -> float:
    score = min(max(score, _EDGE), 1 - _EDGE)
    return math.log(score / (1 - score))
