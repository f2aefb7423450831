"""Runs side by side: a process of `disconer train` for each, started, watched and, if one was interrupted, resumed.

A run's process holds a lock as long as it lives. So when a command was killed with -9 and is run again, it waits for
the processes that it left behind, and two commands on one folder never train the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from disconer.config import ConfigError
from disconer.core.cores import THREADS_VARIABLE, usable_cores
from disconer.core.errors import DisconerError
from disconer.core.files import locked
from disconer.experiments.folder import ExperimentFolder, Record
from disconer.experiments.study import PlannedRun

PAUSE = 0.3  # seconds between looks at the processes
GRACE = 20.0  # seconds that processes have to end
KILLED = (-9, 137)  # exit codes of a process that the system killed, usually for its memory
REASON = 300  # characters


class Watcher(Protocol):
    """Notified of events of the runs. earlier: in a process that an earlier command started."""

    def waiting(self, run: PlannedRun) -> None: ...

    def started(self, run: PlannedRun, *, earlier: bool) -> None: ...

    def done(self, run: PlannedRun, *, earlier: bool) -> None: ...

    def failed(self, run: PlannedRun, reason: str) -> None: ...

    def note(self, line: str) -> None: ...

    def tick(self) -> None: ...


@dataclass(slots=True)
class _Job:
    """A running process. process: None if an earlier command started it. start: of its messages, in the log."""

    run: PlannedRun
    process: subprocess.Popen[bytes] | None
    log: Path
    start: int = 0

    @property
    def messages(self) -> str:
        return self.log.read_bytes()[self.start :].decode("utf-8", "replace") if self.log.is_file() else ""


class Launcher:
    """Runs all runs of an experiment that are not complete, at most `jobs` at a time.

    If one runs out of memory beside others, it is resumed later, and one run fewer is active from then on.
    """

    def __init__(self, folder: ExperimentFolder, record: Record, *, jobs: int, watcher: Watcher) -> None:
        self._folder, self._record, self._watcher = folder, record, watcher
        self._jobs = jobs
        self._waiting: deque[PlannedRun] = deque()
        self._at_work: list[_Job] = []
        self._environment = os.environ | _threads(jobs)

    def launch(self, runs: Sequence[PlannedRun]) -> None:
        """Returns when no run is left; failures are in the record."""
        for run in runs:
            self._sort_in(run)
        try:
            while self._waiting or self._at_work:
                while self._waiting and len(self._at_work) < self._jobs:
                    self._at_work.append(self._start(self._waiting.popleft()))
                self._watcher.tick()
                time.sleep(PAUSE)
                for job in list(self._at_work):
                    self._look_at(job)
        finally:
            self._stop()

    def _sort_in(self, run: PlannedRun) -> None:
        if self._folder.is_complete(run.name):
            self._watcher.done(run, earlier=True)
            return
        try:
            run.load()
        except ConfigError as error:
            self._fail(run, one_line("; ".join(map(str, error.problems))))
        except DisconerError as error:
            self._fail(run, one_line(str(error)))
        else:
            self._waiting.append(run)
            self._watcher.waiting(run)

    def _start(self, run: PlannedRun) -> _Job:
        log = self._folder.log(run.name)
        log.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._folder.lock(run.name)) as lock:
            if lock is None:
                self._watcher.started(run, earlier=True)
                return _Job(run, None, log)
            if self._folder.is_complete(run.name):  # since another command has finished it
                return _Job(run, None, log)
            with open(log, "ab") as stream:
                start = stream.tell()
                process = self._process(run, stream, lock)
        self._watcher.started(run, earlier=False)
        return _Job(run, process, log, start)

    def _process(self, run: PlannedRun, log: IO[bytes], lock: int) -> subprocess.Popen[bytes]:
        """The process inherits the lock, and holds it until it ends."""
        settings = [part for override in run.overrides for part in ("--set", override)]
        out = self._folder.run(run.name)
        arguments = ["-m", "disconer", "train", run.config, "--out", str(out), "--resume", *settings]
        log.write(f"$ python {subprocess.list2cmdline(arguments)}\n".encode())
        log.flush()
        return subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=self._environment,
            pass_fds=(lock,) if lock >= 0 else (),
        )

    def _look_at(self, job: _Job) -> None:
        if job.process is None:
            self._look_for_end(job)
            return
        code = job.process.poll()
        if code is None:
            return
        self._at_work.remove(job)
        if code == 0 and self._folder.is_complete(job.run.name):
            self._watcher.done(job.run, earlier=False)
        elif self._at_work and self._jobs > 1 and ran_out_of_memory(code, job.messages):
            self._jobs -= 1
            self._waiting.append(job.run)
            self._watcher.waiting(job.run)
            self._watcher.note(
                f"{job.run.name} ran out of memory and will be resumed later: {self._jobs} at a time from now on"
            )
        else:
            self._fail(job.run, reason(code, job.messages))

    def _look_for_end(self, job: _Job) -> None:
        """Of a process that an earlier command started: its lock is free when it has ended."""
        with locked(self._folder.lock(job.run.name)) as lock:
            if lock is None:
                return
        self._at_work.remove(job)
        if self._folder.is_complete(job.run.name):
            self._watcher.done(job.run, earlier=False)
        else:
            self._waiting.appendleft(job.run)

    def _fail(self, run: PlannedRun, why: str) -> None:
        self._record.failures[run.name] = why
        self._folder.write(self._record)
        self._watcher.failed(run, why)

    def _stop(self) -> None:
        """End the processes that still run, as after Ctrl-C; what they have finished is kept."""
        processes = [job.process for job in self._at_work if job.process is not None]
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()


def _threads(jobs: int) -> dict[str, str]:
    """Processes side by side share the cores, unless the user has said otherwise."""
    if jobs == 1 or THREADS_VARIABLE in os.environ:
        return {}
    return {THREADS_VARIABLE: str(max(1, usable_cores() // jobs))}


def ran_out_of_memory(code: int, messages: str) -> bool:
    last = messages.rstrip().rpartition("\n")[2].lower()
    return code in KILLED or "out of memory" in last or "memoryerror" in last


def reason(code: int, messages: str) -> str:
    """Why a run failed: its last error, or its last line.

    >>> reason(1, "epoch 1\\nerror: This configuration has a problem:\\n  head.kind: unknown\\n")
    'This configuration has a problem: head.kind: unknown'
    >>> reason(-9, "epoch 1")
    'killed by the system (exit code -9), usually for lack of memory; last message: epoch 1'
    """
    lines = [line for line in messages.splitlines() if line.strip()]
    errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    last = lines[-1].strip() if lines else "nothing"
    if code in KILLED:
        return f"killed by the system (exit code {code}), usually for lack of memory; last message: {one_line(last)}"
    if not errors:
        return one_line(last)
    return one_line(" ".join(lines[errors[-1] :]).removeprefix("error: "))


def one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= REASON else f"{words[: REASON - 1]}…"
