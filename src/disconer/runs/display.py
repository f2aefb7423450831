"""What a run shows on stderr: lines that stay, below them, on a terminal, a live line with a bar; and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class LiveLines:
    """Lines on stderr. `quiet` shows nothing, as for the processes beside the first."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._live: Progress | None = None
        self._task: TaskID | None = None

    @property
    def is_live(self) -> bool:
        """Whether there is a live line to draw."""
        return self._live is not None

    @contextmanager
    def bar(self, total: float, done: float) -> Iterator[None]:
        """Around what the live line is about."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=Console(stderr=True), transient=True) as self._live:
            self._task = self._live.add_task("", total=total, completed=done)  # type: ignore[arg-type]
            yield
        self._live = None

    def draw(self, done: float, line: str) -> None:
        """Redraw the live line, if there is one."""
        if self._live is not None and self._task is not None:
            self._live.update(self._task, completed=done, description=line, refresh=True)

    def say(self, line: str) -> None:
        """A line that stays."""
        if self.quiet:
            return
        if self._live is not None:
            self._live.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)


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
