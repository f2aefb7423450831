"""An experiment from study to report."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from disconer.core.errors import DisconerError, Where
from disconer.experiments.display import Display
from disconer.experiments.figures import Comparison
from disconer.experiments.folder import ExperimentFolder
from disconer.experiments.launch import Launcher
from disconer.experiments.report import REPORT, write_report
from disconer.experiments.study import load_study


@dataclass(frozen=True)
class Outcome:
    """comparison: what the report says. n_failed: runs. report: its folder."""

    comparison: Comparison
    n_failed: int
    report: Path


def run_experiment(study_file: str | Path, out: str | Path, *, jobs: int = 1) -> Outcome:
    """Run all incomplete runs of a study, at most `jobs` at a time, and write its report."""
    out = Path(out)
    study = load_study(Path(study_file))
    runs = study.runs()
    if not runs:
        raise DisconerError("The rules of this study exclude every run", where=Where(str(study_file)))
    folder = ExperimentFolder(out)
    record = folder.open(study, runs)
    display = Display(folder, runs)
    with display.shown(), _ended_by_term():
        Launcher(folder, record, jobs=jobs, watcher=display).launch(runs)
    report = out / REPORT
    return Outcome(write_report([out], report), len(record.failures), report)


@contextmanager
def _ended_by_term() -> Iterator[None]:
    """Let a batch system's SIGTERM end the runs as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
