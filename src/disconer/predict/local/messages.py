"""Messages between a process and its parent: a task one way, events the other, one per line.

`run_as_child` is the side of the process: it reads its task from stdin, sends messages, and exits with its parent. The
side of the parent is `jobs`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from disconer.core.errors import BadInput, DisconerError, DisconerWarning, Where
from disconer.core.files import full_disk, is_full
from disconer.core.ledger import Ledger
from disconer.predict.files import Filled
from disconer.predict.inputs import Share
from disconer.predict.local.parts import Part
from disconer.predict.settings import Settings
from disconer.predict.shared.messages import Address


@dataclass(frozen=True, slots=True)
class Task:
    """A worker's task.

    inputs: paths with their formats. out: a part to write, or with `to`, a folder to fill with files of that format.
    made_by: of what model and settings files of that folder must be to count as done; see `Origins`.
    network: where another process has the network; None: the worker loads it.
    """

    inputs: tuple[tuple[str, str | None], ...]
    settings: Settings
    share: Share
    out: str
    to: str | None = None
    force: bool = False
    skip_bad: bool = False
    made_by: str = ""
    network: Address | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        fields = json.loads(text)
        inputs = tuple((path, format) for path, format in fields.pop("inputs"))
        settings, share = Settings(**fields.pop("settings")), Share(**fields.pop("share"))
        network = _address(fields.pop("network"))
        return cls(inputs=inputs, settings=settings, share=share, network=network, **fields)


def _address(fields: Mapping[str, Any] | None) -> Address | None:
    return None if fields is None else Address(**fields)


@dataclass(slots=True)
class Outcome:
    """A worker's result: a part, or what it made of a folder; and its ledger."""

    part: Part | None = None
    filled: Filled = field(default_factory=Filled)
    ledger: Ledger = field(default_factory=Ledger)

    def to_dict(self) -> dict[str, Any]:
        part = self.part and asdict(self.part) | {"path": str(self.part.path)}
        return {"part": part, "filled": asdict(self.filled), "ledger": ledger_to_dict(self.ledger)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Outcome:
        part = fields["part"] and part_from_dict(fields["part"])
        return cls(part, Filled(**fields["filled"]), ledger_from_dict(fields["ledger"]))


def part_from_dict(fields: Mapping[str, Any]) -> Part:
    blocks = tuple((block, count) for block, count in fields["blocks"])
    own = {"path": Path(fields["path"]), "share": Share(**fields["share"]), "blocks": blocks}
    return Part(**{**fields, **own})


def ledger_to_dict(ledger: Ledger) -> dict[str, Any]:
    return {
        "skip_bad": ledger.skip_bad,
        "errors": dict(ledger.errors),
        "repairs": dict(ledger.repairs),
        "losses": dict(ledger.losses),
        "examples": [error_to_dict(error) for error in ledger.examples],
    }


def ledger_from_dict(fields: Mapping[str, Any]) -> Ledger:
    ledger = Ledger(skip_bad=fields["skip_bad"])
    for name in ("errors", "repairs", "losses"):
        getattr(ledger, name).update(fields[name])
    ledger.examples += [error for item in fields["examples"] if isinstance(error := error_from_dict(item), BadInput)]
    return ledger


def error_to_dict(error: DisconerError) -> dict[str, Any]:
    fields = {name: getattr(error, name) for name in ("what", "got", "expected", "fix")}
    return fields | {"where": error.where and asdict(error.where), "problem": getattr(error, "problem", None)}


def error_from_dict(fields: Mapping[str, Any]) -> DisconerError:
    given = dict(fields)
    what, problem, where = given.pop("what"), given.pop("problem"), given.pop("where")
    place = where and Where(**where)
    return BadInput(problem, what, where=place, **given) if problem else DisconerError(what, where=place, **given)


GRACE = 5.0  # seconds to tidy up in
_AGAIN = 0.01  # seconds, for a destructor to end

Send = Callable[[dict[str, Any]], None]


def run_as_child(do: Callable[[str, Send], None]) -> None:
    """Do the task on the first line of stdin; errors are messages."""
    send = _channel()
    task = sys.stdin.readline()
    signal.signal(signal.SIGTERM, _stop)
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
        if is_full(error):
            send({"error": error_to_dict(full_disk(getattr(error, "filename", None)))})
        else:
            send({"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()})
        sys.exit(1)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # an exception while Python ends would be printed, and ignored


def _stop(*_: object) -> None:
    """Exit, by an exception that lets partial files be removed."""
    sys.unraisablehook = _stop_again
    sys.exit(128 + signal.SIGTERM)


def _stop_again(ignored: sys.UnraisableHookArgs) -> None:
    """Python ignores an exit within a destructor: repeat it. Other errors there are due to stopping, and not shown."""
    if isinstance(ignored.exc_value, SystemExit):
        threading.Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGTERM)).start()


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
