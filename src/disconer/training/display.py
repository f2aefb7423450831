"""What a run shows while it goes on: a live line on a terminal, a line an epoch elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from disconer.training.data import TrainingData

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from disconer.training.run import TrainingResult


class Display:
    """Shows a run on stderr. `quiet` shows nothing, as for the processes beside the first."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._live: RichProgress | None = None
        self._task: TaskID | None = None
        self._started = time.perf_counter()

    def data(self, data: TrainingData) -> None:
        sizes = [("train", data.train), ("dev", data.dev), ("test", data.test)]
        listed = ", ".join(f"{len(documents)} {name}" for name, documents in sizes if documents is not None)
        self._say(f"documents: {listed}; labels: {', '.join(data.labels)}")
        if data.unseen_labels:
            self._say(f"warning: only outside the training data, so never found: {', '.join(data.unseen_labels)}")

    @contextmanager
    def running(self, n_epochs: int) -> Iterator[None]:
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as self._live:
            self._task = self._live.add_task("training", total=n_epochs)
            yield
        self._live = None

    def step(self, epoch: int, step: int, n_steps: int) -> None:
        if self._live is not None and self._task is not None:
            self._live.update(
                self._task, completed=epoch - 1 + step / n_steps, description=f"epoch {epoch}, step {step}/{n_steps}"
            )

    def epoch(self, record: dict[str, Any], *, best: bool) -> None:
        self._say(
            f"epoch {record['epoch']:>3}  loss {record['loss']:8.3f}  dev F1 {100 * record['dev_f1']:5.2f}  "
            f"discontinuous {100 * record['dev_f1_discontinuous']:5.2f}  {record['seconds']:5.1f} s"
            + ("  best" if best else "")
        )

    def result(self, result: TrainingResult) -> None:
        self._say(f"best epoch {result.best_epoch}: dev F1 {100 * result.dev.overall.f1:.2f}; model in {result.folder}")

    def _say(self, line: str) -> None:
        if self.quiet:
            return
        if self._live is not None:
            self._live.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)
