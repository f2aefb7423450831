"""Progress of a run: a live line on a terminal, and one line per epoch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, SupportsFloat

from disconer.core.cores import busy_warning
from disconer.core.counting import counted
from disconer.core.progress import Clock, LiveLines, duration

if TYPE_CHECKING:
    from disconer.config import TrainingConfig
    from disconer.training.data import TrainingData
    from disconer.training.state import Progress
    from disconer.training.training_run import TrainingResult

PAUSE = 0.5  # seconds between updates of the running loss: each waits for the device


class Display:
    """Shows a run on stderr. `quiet` shows nothing, for processes other than the first."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._lines = LiveLines(quiet=quiet)
        self._clock = Clock(0, 0)
        self._best = ""
        self._shown = 0.0

    def data(self, data: TrainingData) -> None:
        sizes = [("train", data.train), ("dev", data.dev), ("test", data.test)]
        listed = ", ".join(f"{len(documents):,} {name}" for name, documents in sizes if documents is not None)
        self._lines.say(f"documents: {listed}; labels: {', '.join(data.labels)}")
        if data.others:
            self._lines.say(f"learned from, but not predicted (data.labels): {', '.join(data.others)}")
        if data.left_out:
            left_out = ", ".join(data.left_out)
            self._lines.say(f"left out, as this head learns only labels that it predicts (data.labels): {left_out}")
        if data.absent:
            self._lines.say(f"warning: labels to predict that no training entity has: {', '.join(data.absent)}")
        for sentence in data.seen_in_training():
            self._lines.say(f"warning: {sentence}")
        if data.unseen_labels:
            self._lines.say(
                "warning: labels not in the training data, which can never be found and count as missed: "
                + ", ".join(data.unseen_labels)
            )

    def device(self, device: str, threads: int, *, precision: str = "no") -> None:
        """Report the device; on a CPU, also the number of threads, and whether other programs use it.

        device: with several processes, its name has a number, also that of a CPU.
        precision: Accelerate's name of it, said if it is not fp32.
        """
        mixed = "" if precision == "no" else f", {precision}"
        if device.partition(":")[0] == "cpu":
            self._lines.say(f"device: cpu, {counted(threads, 'threads')}{mixed}")
            if warning := busy_warning(threads):
                self._lines.say(f"warning: {warning}")
        else:
            self._lines.say(f"device: {device}{mixed}")

    def notes(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._lines.say(f"note: {line}")

    def plan(self, passes: int, n_steps: int) -> None:
        """Explain why an epoch has more than one pass over the data."""
        if passes > 1:
            times = f"each epoch goes over it {passes} times, for {n_steps:,} steps in all"
            self.notes([f"a small corpus: {times} (training.steps_at_least)"])

    @contextmanager
    def running(self, n_epochs: int, progress: Progress) -> Iterator[None]:
        """Show progress while all epochs run; those in `progress` were already done."""
        self._clock = Clock(n_epochs, progress.epoch)
        self._remember(progress)
        if progress.epoch:
            self._lines.say(f"resumed after epoch {progress.epoch}{self._best}")
        with self._lines.bar(n_epochs, progress.epoch):
            yield

    def step(self, epoch: int, step: int, n_steps: int, loss: SupportsFloat) -> None:
        """`loss` is read only when it is shown."""
        now = time.perf_counter()
        if self._lines.is_live and now - self._shown >= PAUSE:
            self._shown = now
            done = epoch - 1 + step / n_steps
            left = duration(self._clock.left(done))
            self._lines.draw(
                done, f"epoch {epoch}, step {step}/{n_steps}, loss {float(loss):.3f}{self._best}, {left} left"
            )

    def measuring(self, epoch: int) -> None:
        self._lines.draw(epoch, f"epoch {epoch}, measuring on dev{self._best}")

    def epoch(self, progress: Progress) -> None:
        record = progress.history[-1]
        self._remember(progress)
        self._lines.say(
            f"epoch {record['epoch']:>3}  loss {record['loss']:8.3f}  dev F1 {100 * record['dev_f1']:5.2f}  "
            f"discontinuous {100 * record['dev_f1_discontinuous']:5.2f}  {record['seconds']:6.1f} s  "
            f"{duration(self._clock.left(progress.epoch)):>7} left" + ("  best" if progress.is_best else "")
        )

    def found_nothing(self, settings: TrainingConfig) -> None:
        """Say that the model is not useful yet, and what usually helps."""
        self._lines.say(
            "warning: no epoch found any entity of dev, so the last one is kept. Usual remedies: more steps "
            f"(training.steps_at_least={2 * max(settings.steps_at_least, 1000)}), smaller batches "
            f"(training.batch_tokens={max(64, settings.batch_tokens // 2)}), more training data, or a start from a "
            "trained model (training.start_from). `disconer check` shows whether the data is read as it should be."
        )

    def finishing(self, best_epoch: int) -> None:
        self._lines.say(f"measuring the best model, of epoch {best_epoch}")

    def result(self, result: TrainingResult) -> None:
        self._lines.say(f"dev F1 {100 * result.dev.overall.f1:.2f}; the model is in {result.folder}")

    def _remember(self, progress: Progress) -> None:
        best = progress.best
        self._best = f", best dev F1 {100 * best['dev_f1']:.2f} (epoch {best['epoch']})" if best else ""
