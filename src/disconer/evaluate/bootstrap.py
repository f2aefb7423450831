"""The bootstrap over documents: intervals of figures computed from their sums, and whether one system is better than
another, resampled alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disconer.evaluate.measures import LEVEL, MAX_UNITS, RESAMPLES, SEED, Counts, Interval

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


Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """F1 of one system minus that of another.

    interval: in which it lies in 95 % of the resamples.
    p: two-sided: twice the share of resamples in which the difference has the other sign, or is none.
    """

    f1: float
    interval: Interval
    p: float


def difference(
    ours: Sequence[Counts],
    theirs: Sequence[Counts],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Difference | None:
    """Compare the counts of two systems on the same documents, in the same order.

    Counts of several runs of a system are added up document by document, so their numbers may differ. More than
    MAX_UNITS documents are resampled in random groups. None with fewer than two documents.
    """
    if len(ours) < 2:
        return None
    rng = np.random.default_rng(seed)
    one, other = _grouped(ours, theirs, rng)
    draws = rng.multinomial(len(one), np.full(len(one), 1 / len(one)), size=resamples)  # how often each is drawn
    drawn = _f1(draws @ one) - _f1(draws @ other)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    opposite = min(float(np.mean(drawn <= 0)), float(np.mean(drawn >= 0)))
    whole = float((_f1(one.sum(axis=0)[None]) - _f1(other.sum(axis=0)[None]))[0])
    return Difference(whole, Interval(float(low), float(high)), min(1.0, 2 * opposite))


def _grouped(ours: Sequence[Counts], theirs: Sequence[Counts], rng: np.random.Generator) -> tuple[Figures, Figures]:
    """Both as arrays of gold, found, predicted and right; a row is a document, or a random group of them."""
    groups = rng.permutation(len(ours)) % MAX_UNITS
    return _rows(ours, groups), _rows(theirs, groups)


def _rows(counts: Sequence[Counts], groups: NDArray[Any]) -> Figures:
    rows = np.zeros((int(groups.max()) + 1, 4))
    np.add.at(rows, groups, [(one.gold, one.found, one.predicted, one.right) for one in counts])
    return rows


def _f1(rows: Figures) -> Figures:
    """F1 of each row; 0 where there is nothing to divide by, as in `Counts`."""
    gold, found, predicted, right = rows.T
    recall = np.divide(found, gold, out=np.zeros_like(gold), where=gold > 0)
    precision = np.divide(right, predicted, out=np.zeros_like(gold), where=predicted > 0)
    total = precision + recall
    f1: Figures = np.divide(2 * precision * recall, total, out=np.zeros_like(gold), where=total > 0)
    return f1
