"""Workers on this machine: started, monitored and stopped together.

They are separate commands, so that neither forking with CUDA nor a script without a main guard is a problem.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

from disconer.core.cores import usable_cores
from disconer.core.errors import BadInput, DisconerError, DisconerWarning, Where
from disconer.core.ledger import Ledger
from disconer.formats.seen_ids import SeenIds
from disconer.predict.inputs import BLOCK_BYTES, Unit
from disconer.predict.local.messages import Outcome, Task, error_from_dict

GRACE = 10.0  # seconds for a worker to end by itself
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")

Message = tuple[int, dict[str, Any] | None]  # from which worker; None: it has exited


class RemoteTraceback(Exception):
    """A worker's traceback, for `--debug`."""


def useful_jobs(asked: int, inputs: Sequence[Unit]) -> int:
    """The requested number of workers, but not more than there are blocks."""
    return max(1, min(asked, 1 + sum(unit.size for unit in inputs) // BLOCK_BYTES)) if asked > 1 else 1


class Jobs:
    """Tasks that run in parallel, one process each.

    outcomes: their results, in order, after `run`.
    """

    def __init__(self, tasks: Sequence[Task], ledger: Ledger) -> None:
        self.tasks = tasks
        self.outcomes: list[Outcome] = []
        self._ledger = ledger
        self._seen = SeenIds()

    def run(self) -> Iterator[str | None]:
        """Run the tasks, and yield for each document that is finished the file that it is in, if it has its own. If one
        task fails, all are stopped.
        """
        outcomes: dict[int, Outcome] = {}
        messages: SimpleQueue[Message] = SimpleQueue()
        with ExitStack() as running:
            workers = [running.enter_context(_worker(task, len(self.tasks))) for task in self.tasks]
            for number, worker in enumerate(workers):
                Thread(target=_listen, args=(number, worker, messages), daemon=True).start()
            while len(outcomes) < len(workers):
                number, message = messages.get()
                if message is None and number not in outcomes:
                    raise _died(number, len(workers), workers[number].wait())
                if message and "outcome" in message:
                    outcomes[number] = Outcome.from_dict(message["outcome"])
                elif message:
                    yield from self._hear(number, message)
            for worker in workers:
                worker.wait()
        self.outcomes = [outcomes[number] for number in range(len(workers))]
        for outcome in self.outcomes:
            self._ledger.add(outcome.ledger)

    def _hear(self, number: int, message: dict[str, Any]) -> Iterator[str | None]:
        if "error" in message:
            raise error_from_dict(message["error"])
        if "failed" in message:
            raise DisconerError(
                f"Worker {number + 1} of {len(self.tasks)} failed",
                got=message["failed"],
                fix="If memory is short, try fewer --jobs. --debug before `predict` shows where it failed.",
            ) from RemoteTraceback(message["traceback"])
        if "warning" in message:
            warnings.warn(message["warning"], DisconerWarning, stacklevel=1)
        if "document" in message and not self._seen.add(message["document"]):
            self._ledger.error(_same_id(message["document"]))
        for _ in range(message.get("finished", 0)):
            yield message.get("output")


@contextmanager
def _worker(task: Task, n_workers: int) -> Iterator[subprocess.Popen[str]]:
    """A worker with its share of the cores. It is stopped when the block ends."""
    n_threads = str(max(1, usable_cores() // n_workers))
    process = subprocess.Popen(
        [sys.executable, "-m", "disconer.predict.local.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=dict.fromkeys(THREAD_VARIABLES, n_threads) | os.environ,  # the user's setting takes precedence
        start_new_session=True,  # Ctrl-C goes to the parent only, which stops them
    )
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):  # it died immediately, which is reported later
            process.stdin.write(task.to_json() + "\n")
            process.stdin.flush()
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()


def _listen(number: int, worker: subprocess.Popen[str], messages: SimpleQueue[Message]) -> None:
    assert worker.stdout is not None
    with worker.stdout as lines:
        for line in lines:
            with suppress(ValueError):  # a line that was cut off as the worker died
                messages.put((number, json.loads(line)))
    messages.put((number, None))


def _died(number: int, of: int, code: int) -> DisconerError:
    reason = f"exit status {code}" if code >= 0 else f"signal {-code} ({signal.Signals(-code).name})"
    return DisconerError(
        f"Worker {number + 1} of {of} exited before its work was done, so all were stopped",
        got=reason,
        fix="See its output above; without any, memory ran out: try fewer --jobs. Then run the same command again.",
    )


def _same_id(id: str) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two documents have the same id, and so the same output",
        where=Where(document=id),
        fix="Rename one of them.",
    )
