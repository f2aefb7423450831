"""Progress on stderr, if it is a terminal or if the caller asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_notes: list[Callable[[str], None]] = []  # one for each bar that is shown, the newest last


def progress(items: Iterable[T], what: str, total: int | None = None, *, shown: bool | None = None) -> Iterator[T]:
    """Pass items through and count them on stderr.

    shown: None: if stderr is a terminal.
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
    """Say beside the bar, if one is shown, how far the work on its next item is."""
    if _notes:
        _notes[-1](text)
