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
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

from disconer.core.cores import usable_cores
from disconer.core.errors import BadInput, DisconerError, DisconerWarning, Where
from disconer.core.ledger import Ledger
from disconer.formats.seen_ids import SeenIds
from disconer.predict.inputs import Unit
from disconer.predict.local.messages import Outcome, Task, error_from_dict
from disconer.predict.settings import Settings
from disconer.predict.shared.messages import NetworkTask
from disconer.predict.walk import BLOCK_BYTES

GRACE = 10.0  # seconds for a worker to end by itself
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")

WORKER, SERVICE = "disconer.predict.local.worker", "disconer.predict.shared.service"
NETWORK, NETWORK_NAME = -1, "The process that has the network"  # the number of its messages

Message = tuple[int, dict[str, Any] | None]  # from which worker; None: it has exited


class RemoteTraceback(Exception):
    """A worker's traceback, for `--debug`."""


def useful_jobs(asked: int, inputs: Sequence[Unit]) -> int:
    """The requested number of workers, but not more than there are blocks."""
    return max(1, min(asked, 1 + sum(unit.size for unit in inputs) // BLOCK_BYTES)) if asked > 1 else 1


def default_jobs(inputs: Sequence[Unit], settings: Settings) -> int:
    """The default number of workers: on a GPU, one per remaining core; else one."""
    from disconer.predict.loading import shares_network  # when it is needed: `disconer --help` does not

    n_cores = useful_jobs(usable_cores() - 1, inputs)
    return n_cores if n_cores > 1 and shares_network(settings) else 1


class Jobs:
    """Tasks that run in parallel, one process each.

    network: the task of another process, which has the network for all of them; None: each loads it.
    outcomes: their results, in order, after `run`.
    """

    def __init__(self, tasks: Sequence[Task], ledger: Ledger, network: NetworkTask | None = None) -> None:
        self.tasks, self._network = tasks, network
        self.outcomes: list[Outcome] = []
        self._ledger = ledger
        self._seen = SeenIds()

    def run(self) -> Iterator[None]:
        """Run the tasks, and yield for each document or file that is finished. If one task fails, all are stopped."""
        outcomes: dict[int, Outcome] = {}
        messages: SimpleQueue[Message] = SimpleQueue()
        with ExitStack() as running:
            workers = [running.enter_context(_worker(task, len(self.tasks))) for task in self.tasks]
            children = dict(enumerate(workers))
            if self._network:
                children[NETWORK] = running.enter_context(_process(SERVICE, self._network.to_json(), usable_cores()))
            for number, child in children.items():
                Thread(target=_listen, args=(number, child, messages), daemon=True).start()
            while len(outcomes) < len(workers):
                number, message = messages.get()
                if message is None and number not in outcomes:
                    raise _died(self._named(number), children[number].wait(), _how_to_save_memory(number))
                if message and "outcome" in message:
                    outcomes[number] = Outcome.from_dict(message["outcome"])
                elif message:
                    yield from self._hear(number, message)
            for worker in workers:
                worker.wait()
        self.outcomes = [outcomes[number] for number in range(len(workers))]
        for outcome in self.outcomes:
            self._ledger.add(outcome.ledger)

    def _hear(self, number: int, message: dict[str, Any]) -> Iterator[None]:
        if "error" in message:
            raise error_from_dict(message["error"])
        if "failed" in message:
            advice = f"If memory is short, {_how_to_save_memory(number)}."
            raise DisconerError(
                f"{self._named(number)} failed",
                got=message["failed"],
                fix=f"{advice} --debug before `predict` shows where it failed.",
            ) from RemoteTraceback(message["traceback"])
        if "warning" in message:
            warnings.warn(message["warning"], DisconerWarning, stacklevel=1)
        if "document" in message and not self._seen.add(message["document"]):
            self._ledger.error(_same_id(message["document"]))
        for _ in range(message.get("finished", 0)):
            yield

    def _named(self, number: int) -> str:
        return NETWORK_NAME if number == NETWORK else f"Worker {number + 1} of {len(self.tasks)}"


def _worker(task: Task, n_workers: int) -> AbstractContextManager[subprocess.Popen[str]]:
    """A worker with its share of the cores."""
    return _process(WORKER, task.to_json(), max(1, usable_cores() // n_workers))


@contextmanager
def _process(module: str, task: str, n_threads: int) -> Iterator[subprocess.Popen[str]]:
    """A process with a task. It is stopped when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=dict.fromkeys(THREAD_VARIABLES, str(n_threads)) | os.environ,  # the user's setting takes precedence
        start_new_session=True,  # Ctrl-C goes to the parent only, which stops them
    )
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):  # it died immediately, which is reported later
            process.stdin.write(task + "\n")
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


def _how_to_save_memory(number: int) -> str:
    return "end other programs on this GPU, or add --precision bf16" if number == NETWORK else "try fewer --jobs"


def _died(name: str, code: int, advice: str) -> DisconerError:
    reason = f"exit status {code}" if code >= 0 else f"signal {-code} ({signal.Signals(-code).name})"
    return DisconerError(
        f"{name} exited before its work was done, so all were stopped",
        got=reason,
        fix=f"See its output above; if there is none, memory probably ran out: {advice}. Then run it again.",
    )


def _same_id(id: str) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two documents have the same id, and so the same output",
        where=Where(document=id),
        fix="Rename one of them.",
    )
