"""The remaining time of a run, and durations as text."""

from __future__ import annotations

import time


class Clock:
    """Estimates the remaining time of a run from the duration of its epochs so far."""

    def __init__(self, n_epochs: int, n_done: int) -> None:
        self._n_epochs, self._n_done = n_epochs, n_done
        self._started = time.perf_counter()

    def left(self, done: float) -> float:
        """Seconds; `done` counts epochs, including fractions."""
        own = max(done - self._n_done, 1e-9)
        return (time.perf_counter() - self._started) / own * (self._n_epochs - done)


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    >>> duration(59.7), duration(754), duration(7_500)
    ('1 min', '13 min', '2 h 05')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02}"
