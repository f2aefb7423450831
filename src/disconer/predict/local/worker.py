"""A worker, `python -m disconer.predict.local.worker`: does the task read from stdin, and exits with its parent."""

from __future__ import annotations

from pathlib import Path

from disconer.core.ledger import Ledger
from disconer.formats import format_named
from disconer.formats.remote import open_source
from disconer.predict.files import Folder
from disconer.predict.inputs import Unit, units
from disconer.predict.lazy import LazyRecognizer
from disconer.predict.local.messages import Outcome, Send, Task, run_as_child
from disconer.predict.local.parts import write_part
from disconer.predict.origins import Origins
from disconer.predict.settings import Annotator


def do(task: Task, send: Send) -> Outcome:
    """Do a task, and report the number of documents of each block."""
    ledger = Ledger(skip_bad=task.skip_bad)
    inputs = [unit for path, format in task.inputs for unit in units(open_source(path), format)]
    recognizer = LazyRecognizer(task.settings, task.network)
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
    origins = Origins.load(Path(task.out), task.made_by)
    folder = Folder(origins, format_named(task.to), outcome.ledger, force=task.force, filled=outcome.filled)
    folder.see = lambda id: send({"document": id})
    for _ in folder.fill(inputs, annotator, task.share):
        send({"finished": 1})


def _work(task: str, send: Send) -> None:
    send({"outcome": do(Task.from_json(task), send).to_dict()})


if __name__ == "__main__":
    run_as_child(_work)
