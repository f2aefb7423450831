"""A process with a task: it reads it from stdin, sends messages to its parent, and exits with it."""

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
from typing import Any, TextIO

from disconer.core.errors import DisconerError, DisconerWarning
from disconer.predict.local.messages import error_to_dict

GRACE = 5.0  # seconds to tidy up in

Send = Callable[[dict[str, Any]], None]


def run_as_child(do: Callable[[str, Send], None]) -> None:
    """Do the task on the first line of stdin; errors are messages."""
    send = _channel()
    task = sys.stdin.readline()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _send_warnings(send)
    try:
        do(task, send)
    except BrokenPipeError:  # the parent is gone
        sys.exit(1)
    except DisconerError as error:
        send({"error": error_to_dict(error)})
        sys.exit(1)
    except Exception as error:
        send({"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()})
        sys.exit(1)


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
