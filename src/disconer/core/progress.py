"""Progress on stderr: a bar that counts items; lines of a run that stay, with a live line below them on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")

_notes: list[Callable[[str], None]] = []  # one for each bar that is shown, the newest last


def progress(items: Iterable[T], what: str, total: int | None = None, *, shown: bool | None = None) -> Iterator[T]:
    """Pass items through and count them on stderr.

    shown: whether to draw the bar; None: if stderr is a terminal.
    """
    if not (sys.stderr.isatty() if shown is None else shown) or _notes:  # one bar at a time
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=shown is None) as bar:
        task = bar.add_task(what, total=total, note="")
        _notes.append(lambda text: bar.update(task, note=text))
        try:
            for item in items:
                yield item
                bar.advance(task)
        finally:
            _notes.pop()


def note(text: str) -> None:
    """Show a text beside the bar, if there is one: how far the work on its next item is."""
    if _notes:
        _notes[-1](text)


class LiveLines:
    """Lines on stderr. `quiet` shows nothing, as in all processes but the first."""

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
        """Show a live line with a bar while the block runs."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(), TextColumn("{task.description}"))
        try:
            with Progress(*columns, console=Console(stderr=True), transient=True) as self._live:
                self._task = self._live.add_task("", total=total, completed=done)  # type: ignore[arg-type]
                yield
        finally:
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
