"""Training on the documents that are done, in a separate process: `disconer train`, configured for the data."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from disconer.annotate.suggestions import Suggester
from disconer.config import Config, load_config
from disconer.config.template import template
from disconer.core.counting import counted
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.plugins import require_training
from disconer.core.types import Document
from disconer.evaluate import evaluate
from disconer.evaluate.stats import survey
from disconer.formats import write
from disconer.predict.loading import is_exported
from disconer.start.propose import propose, read_start
from disconer.start.splits import BY_ID, DEV, TRAIN, Splits
from disconer.store.names import find_model

DEV_FRACTION = 0.2
# Users wait for these models, and train again when more is done: a fifth of the usual steps, no adversarial training.
QUICK = ("training.epochs=10", "training.patience=4", "training.steps_at_least=600", "training.adversarial=0")
PROGRAM = (sys.executable, "-m", "disconer")
LOG, RUN = "log.txt", "run"
State = Literal["idle", "preparing", "running", "measuring", "finished", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Status:
    """The progress of training. f1: of the current model and of the new one, on dev, in per cent."""

    state: State = "idle"
    message: str = ""
    n_train: int = 0
    n_dev: int = 0
    epoch: int = 0
    epochs: int = 0
    dev_f1: Sequence[float] = ()  # of each epoch
    old_f1: float | None = None
    new_f1: float | None = None
    takes_over: bool = False
    model: str = ""

    @property
    def is_running(self) -> bool:
        return self.state in ("preparing", "running", "measuring")


def divide(documents: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """Documents to train on, and to measure on, some of which have entities.

    By a hash of their ids: dev are those up to a limit, and up to the first with entities. Both only go down when more
    documents are done, so training documents never become dev documents.
    """
    if len(documents) < 2:
        raise _too_few(str(len(documents)), "at least 2, better 50")
    hashed = sorted(documents, key=lambda document: BY_ID.order(document.id))
    limit = int(DEV_FRACTION * 256)
    n_dev = sum(BY_ID.order(document.id)[0] < limit for document in hashed)
    first = next((place for place, document in enumerate(hashed) if document.entities), 0)
    n_dev = max(n_dev, first + 1)
    if n_dev == len(hashed):
        raise _too_few(f"{len(hashed)}, all held out to measure F1", "more, better 50")
    return hashed[n_dev:], hashed[:n_dev]


def _too_few(got: str, expected: str) -> DisconerError:
    return DisconerError(
        "Too few documents are done to train on",
        got=got,
        expected=expected,
        fix="Mark documents as done when you are finished with them.",
    )


def prepare(documents: Sequence[Document], folder: Path, current: Suggester | None, settings: Sequence[str]) -> Config:
    """Write data and configuration for training to a folder; it starts from the current model if possible."""
    train, dev = divide(documents)
    labels = sorted({entity.label for document in train for entity in document.entities})
    if not labels:
        raise DisconerError(
            "There are no entities to learn from",
            got=f"{counted(len(train), 'documents')} without any",
            fix="Annotate some.",
        )
    folder.mkdir(parents=True)
    paths = {split: folder / f"{split}.jsonl" for split in (TRAIN, DEV)}
    write(train, paths[TRAIN])
    write(dev, paths[DEV])
    base = None
    if current and set(labels) & set(current.labels) and not is_exported(find_model(current.place)):
        base = read_start(current.place).settings(None, None)
    found = survey(train, base.data.tokenizer if base else "words")
    splits = Splits({name: path.resolve() for name, path in paths.items()}, folder, "jsonl", {}, ())
    proposed = propose(splits, found, base)
    file = folder / "config.yaml"
    replace_file(file, template(proposed.config, "Written by `disconer annotate`.").encode())
    return load_config(str(file), list(settings))


class Trainer:
    """Trains, one model at a time.

    folder: contains a folder for each training run. settings: for training, as KEY=VALUE.
    load: makes a suggester from a model's folder. take_over: called with the new one if it is better.
    """

    def __init__(
        self,
        folder: Path,
        settings: Sequence[str] = (),
        *,
        load: Callable[[Path], Suggester],
        take_over: Callable[[Suggester], None],
    ) -> None:
        self._folder, self._settings = folder, (*QUICK, *settings)
        self._load, self._take_over = load, take_over
        self._status = Status()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False
        self._run: Path | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def status(self) -> Status:
        """The current progress, with the epochs that are finished."""
        status = self._status
        if status.state != "running" or self._run is None:
            return status
        figures = epoch_figures(self._run)
        return replace(status, epoch=len(figures), dev_f1=tuple(figures))

    def start(self, documents: Sequence[Document], current: Suggester | None) -> None:
        """Start training in the background; raises an error if it is known not to work."""
        require_training("Training")
        with self._lock:
            if self._status.is_running:
                raise DisconerError("Training is already running", fix="Wait for it, or stop it.")
            self.wait()  # one that was stopped may not have ended yet
            self._process, self._stopping = None, False
            self._status = Status("preparing")
        try:
            plan = self._prepare(documents, current)
        except Exception:
            self._status = Status()
            raise
        self._thread = threading.Thread(target=self._train, args=(plan, current), name="training", daemon=True)
        self._thread.start()

    def wait(self) -> Status:
        """Wait for the result."""
        if self._thread is not None:
            self._thread.join()
        return self._status

    def stop(self) -> None:
        """End the training process, even if it is still to be started; what it has saved stays."""
        state, process = self._status.state, self._process
        if state not in ("preparing", "running") or (process is not None and process.poll() is not None):
            return
        self._stopping = True  # before checking the process, which may be starting: see `_run_process`
        if state == "running":
            self._say_stopped()
        if self._process is not None:
            self._process.terminate()

    def _say_stopped(self) -> None:
        self._status = replace(self._status, state="stopped", message="Training was stopped.")

    def _prepare(self, documents: Sequence[Document], current: Suggester | None) -> _Plan:
        number = 1 + max([int(path.name) for path in self._folder.glob("[0-9]*") if path.name.isdigit()], default=0)
        folder = self._folder / str(number)
        config = prepare(documents, folder, current, self._settings)
        train, dev = divide(documents)
        self._run = folder / RUN
        self._status = Status("running", n_train=len(train), n_dev=len(dev), epochs=config.training.epochs)
        return _Plan(folder, dev)

    def _train(self, plan: _Plan, current: Suggester | None) -> None:
        try:
            code = self._run_process(plan)
            if self._stopping:
                self._say_stopped()
                return
            if code:
                self._status = replace(self.status(), state="failed", message=_last_line(plan.folder / LOG))
                return
            self._status = replace(self.status(), state="measuring")
            self._status = self._measured(plan, current)
        except Exception as error:  # on a thread of its own, it would go unnoticed
            self._status = replace(self._status, state="failed", message=str(error) or type(error).__name__)

    def _run_process(self, plan: _Plan) -> int:
        settings = [part for setting in self._settings for part in ("--set", setting)]
        command = [*PROGRAM, "train", str(plan.folder / "config.yaml")]
        with open(plan.folder / LOG, "wb") as log:
            self._process = subprocess.Popen(
                [*command, "--out", str(plan.folder / RUN), *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            if self._stopping:
                self._process.terminate()
            return self._process.wait()

    def _measured(self, plan: _Plan, current: Suggester | None) -> Status:
        """Both models on the same documents; the better one suggests from now on."""
        best = plan.folder / RUN / "best"
        new = self._load(best)
        old_f1 = None if current is None else dev_f1(current, plan.dev)
        new_f1 = dev_f1(new, plan.dev)
        takes_over = new_f1 > (old_f1 or 0.0)
        if takes_over:
            self._take_over(new)
        return replace(
            self.status(),
            state="finished",
            old_f1=old_f1,
            new_f1=new_f1,
            takes_over=takes_over,
            dev_f1=tuple(epoch_figures(plan.folder / RUN)),
            epoch=len(epoch_figures(plan.folder / RUN)),
            model=str(best),
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """The input of a training run. dev: the documents to measure on."""

    folder: Path
    dev: list[Document] = field(repr=False)


def dev_f1(model: Suggester, dev: Sequence[Document]) -> float:
    """In percent."""
    found = evaluate(dev, model.annotate([document.replace(entities=()) for document in dev]))
    return 100 * found.overall.f1


def epoch_figures(run: Path) -> list[float]:
    """F1 on dev of each finished epoch, in percent."""
    file = run / "metrics.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [100 * json.loads(line)["dev_f1"] for line in lines]


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    said = lines[-1].removeprefix("error: ") if lines else "Training ended without any output."
    return str(DisconerError(said, where=Where(str(log))))
