"""What an experiment shows while it runs: a live table on a terminal, otherwise a line per event."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from disconer.core.progress import duration
from disconer.evaluate import spread
from disconer.experiments.folder import COMPLETE, ExperimentFolder
from disconer.experiments.study import SEED, PlannedRun

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
_ORDER = (RUNNING, FAILED, WAITING, DONE)  # of rows in the table: what matters most is seen on a small terminal
PAUSE = 1.0  # seconds between drawings


@dataclass(slots=True)
class Status:
    """The status of a run. f1: on dev, at the end or so far. note: its progress, or why it failed."""

    state: str = WAITING
    f1: float | None = None
    note: str = ""
    since: float = field(default_factory=time.monotonic)


class Display:
    """Follows the runs of an experiment on stderr."""

    def __init__(self, folder: ExperimentFolder, runs: Sequence[PlannedRun]) -> None:
        self._folder = folder
        self._runs = {run.name: run for run in runs}
        self._status = {run.name: Status() for run in runs}
        self._live: Live | None = None
        self._drawn = 0.0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the table while all runs run."""
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), auto_refresh=False, vertical_overflow="ellipsis") as self._live:
            try:
                yield
                self._draw()
            finally:
                self._live = None

    def waiting(self, run: PlannedRun) -> None:
        self._status[run.name] = Status()

    def started(self, run: PlannedRun, *, earlier: bool) -> None:
        self._status[run.name] = Status(RUNNING)
        self._say(f"{'waiting for the process of an earlier command:' if earlier else 'started'} {run.name}")

    def done(self, run: PlannedRun, *, earlier: bool) -> None:
        since = self._status[run.name].since
        self._status[run.name] = Status(DONE, self._final_f1(run))
        took = "complete already" if earlier else duration(time.monotonic() - since)
        self._say(f"done {run.name}: dev F1 {_percent(self._status[run.name].f1)}, {took}")

    def failed(self, run: PlannedRun, reason: str) -> None:
        self._status[run.name] = Status(FAILED, note=reason)
        self._say(f"failed {run.name}: {reason}")

    def note(self, line: str) -> None:
        if self._live is None:
            print(f"note: {line}", file=sys.stderr, flush=True)
        else:
            self._live.console.print(f"note: {line}", highlight=False, markup=False)

    def tick(self) -> None:
        now = time.monotonic()
        if self._live is not None and now - self._drawn >= PAUSE:
            self._drawn = now
            self._draw()

    def _say(self, line: str) -> None:
        """Print a line if there is no table."""
        if self._live is None:
            n_ended = sum(status.state in (DONE, FAILED) for status in self._status.values())
            print(f"[{n_ended}/{len(self._status)}] {line}", file=sys.stderr, flush=True)

    def _final_f1(self, run: PlannedRun) -> float:
        figures = json.loads((self._folder.run(run.name) / COMPLETE).read_text("utf-8"))
        return float(figures["overall"]["f1"])

    def _draw(self) -> None:
        for name, status in self._status.items():
            if status.state == RUNNING:
                self._look(name, status)
        if self._live is not None:
            self._live.update(self.table(), refresh=True)

    def _look(self, name: str, status: Status) -> None:
        """Update a run's progress from what it writes after each epoch."""
        try:
            lines = (self._folder.run(name) / "metrics.jsonl").read_text("utf-8").splitlines()
            records = [json.loads(line) for line in lines]
        except (OSError, ValueError):
            return
        if records:
            status.f1 = max(float(record["dev_f1"]) for record in records)
            status.note = f"epoch {len(records)}"

    def table(self) -> Table:
        """A row per cell."""
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("", no_wrap=True)
        table.add_column("runs", justify="right")
        table.add_column("dev F1", justify="right", no_wrap=True)
        table.add_column("", ratio=1)
        for row in self.rows():
            table.add_row(*row)
        states = [status.state for status in self._status.values()]
        counted = (f"{states.count(state)} {state}" for state in (DONE, RUNNING, FAILED, WAITING))
        table.caption, table.caption_justify = ", ".join(counted), "left"
        return table

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Cell, complete runs, F1 on dev, and current activity."""
        cells: dict[str, list[str]] = {}
        for name, run in self._runs.items():
            cells.setdefault(run.cell, []).append(name)
        ordered = sorted(
            cells.items(), key=lambda cell: min(_ORDER.index(self._status[name].state) for name in cell[1])
        )
        return [self._row(cell, names) for cell, names in ordered]

    def _row(self, cell: str, names: list[str]) -> tuple[str, str, str, str]:
        ended = [status.f1 for name in names if (status := self._status[name]).state == DONE and status.f1 is not None]
        f1 = str(spread(ended)) if ended else ""
        notes = (self._note(name) for name in names)
        return cell, f"{len(ended)}/{len(names)}", f1, "; ".join(dict.fromkeys(filter(None, notes)))

    def _note(self, name: str) -> str:
        status = self._status[name]
        if status.state == FAILED:
            return f"failed: {status.note}"
        if status.state != RUNNING:
            return ""
        seed = self._runs[name].values.get(SEED)
        now = f"{status.note or 'starting'}" + ("" if status.f1 is None else f", dev F1 {_percent(status.f1)}")
        return f"seed {seed}: {now}" if seed else now


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
