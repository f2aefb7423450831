"""Bootstrap intervals of any figure that is computed from sums over documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disconer.evaluate.measures import LEVEL, MAX_UNITS, RESAMPLES, SEED, Interval

Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers], Numbers]  # sums of rows (…, columns) → figures (…); NaN where there is none


class Estimate(NamedTuple):
    """A figure with its bootstrap interval; None where it is not defined."""

    value: float | None
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "interval": self.interval}


def estimate(rows: Numbers, statistic: Statistic) -> Estimate:
    """The figure of all documents, and the interval in which it lies in LEVEL of the resamples of documents.

    rows: one per document.  Shape: (documents, columns)

    As in `measures.f1_interval`, resamples without a figure are left out, and many documents are resampled in random
    groups.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(rows.sum(axis=0)))
        interval = _interval(rows, statistic) if len(rows) > 1 else None
    return Estimate(None if np.isnan(value) else value, interval)


def _interval(rows: Numbers, statistic: Statistic) -> Interval | None:
    rng = np.random.default_rng(SEED)
    units = _in_groups(rows, rng)
    times = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=RESAMPLES)
    figures = statistic(times @ units)  # (resamples,)
    figures = np.sort(figures[~np.isnan(figures)])
    if not len(figures):
        return None
    outside = int(len(figures) * (1 - LEVEL) / 2)
    return Interval(float(figures[outside]), float(figures[-1 - outside]))


def _in_groups(rows: Numbers, rng: np.random.Generator) -> Numbers:
    if len(rows) <= MAX_UNITS:
        return rows
    shuffled = rng.permutation(rows)
    return np.stack([shuffled[number::MAX_UNITS].sum(axis=0) for number in range(MAX_UNITS)])
