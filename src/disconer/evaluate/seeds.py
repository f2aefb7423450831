"""Mean and standard deviation of a metric over several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean, stdev
from typing import NamedTuple

from disconer.evaluate.evaluation import Evaluation


class Spread(NamedTuple):
    """Mean and sample standard deviation of `runs` figures; one run has no deviation.

    >>> str(Spread(0.6843, 0.0051, 3))
    '68.4 ± 0.5'
    """

    mean: float
    sd: float | None
    runs: int

    def __str__(self) -> str:
        """In per cent, for figures between 0 and 1."""
        deviation = "" if self.sd is None else f" ± {100 * self.sd:.1f}"
        return f"{100 * self.mean:.1f}{deviation}"


def over_seeds(evaluations: Iterable[Evaluation], figure: Callable[[Evaluation], float]) -> Spread:
    """Mean and standard deviation of any metric: `over_seeds(runs, lambda run: run.discontinuous.f1)`."""
    return spread([figure(evaluation) for evaluation in evaluations])


def spread(figures: Sequence[float]) -> Spread:
    """Mean and standard deviation of values."""
    if not figures:
        raise ValueError("no runs to take the mean of")
    return Spread(mean(figures), stdev(figures) if len(figures) > 1 else None, len(figures))
