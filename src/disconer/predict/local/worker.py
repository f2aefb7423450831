"""A worker, `python -m disconer.predict.local.worker`: does the task read from stdin, and exits with its parent."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from disconer.core.errors import DisconerError, DisconerWarning
from disconer.core.ledger import Ledger
from disconer.formats import format_named
from disconer.formats.remote import open_source
from disconer.predict.files import Folder
from disconer.predict.inputs import Unit, units
from disconer.predict.lazy import LazyRecognizer
from disconer.predict.local.messages import Outcome, Task, error_to_dict
from disconer.predict.local.parts import write_part
from disconer.predict.settings import Annotator

GRACE = 5.0  # seconds to tidy up in

Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Do one task and report the result."""
    send = _channel()
    task = Task.from_json(sys.stdin.readline())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _send_warnings(send)
    try:
        send({"outcome": do(task, send).to_dict()})
    except BrokenPipeError:  # the parent is gone
        sys.exit(1)
    except DisconerError as error:
        send({"error": error_to_dict(error)})
        sys.exit(1)
    except Exception as error:
        send({"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()})
        sys.exit(1)


def do(task: Task, send: Send) -> Outcome:
    """Do a task, and report the number of documents of each block."""
    ledger = Ledger(skip_bad=task.skip_bad)
    inputs = [unit for path, format in task.inputs for unit in units(open_source(path), format)]
    recognizer = LazyRecognizer(task.settings)
    outcome = Outcome(ledger=ledger)
    if task.to is None:
        outcome.part = write_part(
            Path(task.out), task.share, inputs, recognizer, ledger, lambda count: send({"finished": count})
        )
    else:
        _fill(task, inputs, recognizer, outcome, send)
    recognizer.account(ledger)
    return outcome


def _fill(task: Task, inputs: list[Unit], annotator: Annotator, outcome: Outcome, send: Send) -> None:
    assert task.to is not None
    out, outdated = Path(task.out), frozenset(task.outdated)
    folder = Folder(out, format_named(task.to), outcome.ledger, force=task.force)
    folder.see = lambda id: send({"document": id})
    folder.is_current = lambda output: str(output.relative_to(out)) not in outdated
    for output in folder.fill(inputs, annotator, task.share):
        send({"finished": 1, "output": output})
    outcome.written, outcome.done = folder.written, folder.done


def _channel() -> Send:
    """A pipe to the parent that libraries cannot print into: their output goes to stderr."""
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(message: dict[str, Any]) -> None:
        stream.write(json.dumps(message) + "\n")
        stream.flush()

    return send


def _send_warnings(send: Send) -> None:
    """Send our warnings to the parent, which shows each only once."""
    show = warnings.showwarning

    def pass_on(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, DisconerWarning):
            send({"warning": str(message)})
        else:
            show(message, category, filename, lineno, file, line)

    warnings.showwarning = pass_on


def _end_with_parent() -> None:
    """Exit when stdin ends, which happens when the parent is gone."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


if __name__ == "__main__":
    main()
