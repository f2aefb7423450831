"""What a run keeps on disk while it goes on, so that it can be killed at any moment and resumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from disconer.core.errors import DisconerError, Where
from disconer.core.files import WEIGHTS, replace_file
from disconer.nn.weights import save_weights
from disconer.runs.state import Stateful, save_state
from disconer.store.checkpoint import Model, save_model

BEST, LAST = "best", "last"


@dataclass(slots=True)
class Progress:
    """How far a run has come: a record an epoch, with its number and its F1 on dev."""

    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        return len(self.history)

    @property
    def best(self) -> dict[str, Any] | None:
        """The epoch with the highest F1 on dev, the first of equals."""
        return max(self.history, key=lambda record: float(record["dev_f1"]), default=None)

    @property
    def is_best(self) -> bool:
        """Whether the last epoch is the best one."""
        return self.best is not None and self.best is self.history[-1]

    @property
    def epochs_without_gain(self) -> int:
        """Since the best; none as long as no entity was found: a small corpus takes its time to be learnt at all."""
        return self.epoch - self.best["epoch"] if self.best and self.best["dev_f1"] else 0


class RunFolder:
    """The files of a run.

    run.json, config.yaml: what was run; the first file to be written, and the second.
    best/, last/: model folders.
    training.pt: network, optimizer and progress at the end of an epoch, in one file: they always belong together.
    metrics.jsonl: a line an epoch. dev.json, test.json: the figures of the best model, when all is done.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.best, self.last = path / BEST, path / LAST
        self.facts, self.config = path / "run.json", path / "config.yaml"
        self._state, self._metrics = path / "training.pt", path / "metrics.jsonl"

    @property
    def can_resume(self) -> bool:
        return self._state.is_file()

    @property
    def state_hash(self) -> str | None:
        """A fingerprint of what there is to resume, if anything is."""
        if not self.can_resume:
            return None
        with open(self._state, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:8]

    def open(self, *, resume: bool) -> bool:
        """Make the folder, unless something stands there that must not be touched; says if it is a run to resume."""
        where = Where(str(self.path))
        if self.path.exists() and not self.path.is_dir():
            raise DisconerError("A file stands where the run is to go", where=where, fix="Choose another folder.")
        if self.path.is_dir() and any(not file.name.startswith(".") for file in self.path.iterdir()):
            if not self.facts.is_file():
                raise DisconerError(
                    "This folder holds other things", where=where, fix="Choose a new or empty folder for the run."
                )
            if not resume:
                raise DisconerError(
                    "A training run is here already", where=where, fix="Add --resume, or choose another folder."
                )
        self.path.mkdir(parents=True, exist_ok=True)
        return self.can_resume

    def save_best(self, model: Model) -> None:
        _save_model(model, self.best)

    def save_last(self, model: Model, progress: Progress, parts: dict[str, Stateful]) -> None:
        """Keep the end of an epoch. The state goes last: once it says that an epoch is done, all else is there."""
        _save_model(model, self.last)
        replace_file(self._metrics, "".join(f"{json.dumps(record)}\n" for record in progress.history).encode())
        state = {
            "network": model.network.state_dict(),
            "history": progress.history,
            **{name: part.state_dict() for name, part in parts.items()},
        }
        save_state(state, self._state)

    def load_last(self, model: Model, parts: dict[str, Stateful]) -> Progress:
        """Put a run back to the end of its last whole epoch."""
        try:
            state = torch.load(self._state, map_location="cpu", weights_only=True)
            model.network.load_state_dict(state["network"])
            for name, part in parts.items():
                part.load_state_dict(state[name])
            return Progress(state["history"])
        except Exception as error:
            raise DisconerError(
                "This run cannot be resumed: its state is damaged or was written by another version of disconer",
                where=Where(str(self._state)),
                got=str(error).split("\n")[0],
                fix="Start anew in another folder.",
            ) from error


def _save_model(model: Model, folder: Path) -> None:
    """Only the weights change from epoch to epoch; they were written last, so where they are, all is."""
    if (folder / WEIGHTS).is_file():
        save_weights(model.network, folder / WEIGHTS)
    else:
        save_model(model, folder)
