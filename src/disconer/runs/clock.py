"""How long a run will still take, and durations in words."""

from __future__ import annotations

import time


class Clock:
    """Tells the time that a run will still take at most, from the time that its epochs took so far."""

    def __init__(self, n_epochs: int, n_done: int) -> None:
        self._n_epochs, self._n_done = n_epochs, n_done
        self._started = time.perf_counter()

    def left(self, done: float) -> float:
        """Seconds; `done` counts epochs, parts of them included."""
        own = max(done - self._n_done, 1e-9)
        return (time.perf_counter() - self._started) / own * (self._n_epochs - done)


def duration(seconds: float) -> str:
    """A stretch of time in the two units that matter.

    >>> duration(59.7), duration(754), duration(7_500)
    ('1 min', '13 min', '2 h 05')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02}"
