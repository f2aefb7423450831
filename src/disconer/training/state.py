"""What a run keeps on disk while it goes on, so that it can be killed at any moment and resumed."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from disconer.errors import DisconerError, Where
from disconer.model.checkpoint import Model, replace_file, save_model, save_weights


@dataclass(slots=True)
class Progress:
    """How far a run has come."""

    epoch: int = 0
    best_f1: float = -1.0
    best_epoch: int = 0

    @property
    def epochs_without_gain(self) -> int:
        return self.epoch - self.best_epoch


class RunFolder:
    """The files of a run.

    best/, last/: model folders. last/training.pt: model, optimizer and progress at the end of an epoch, in one
    file, so that they always belong together. metrics.jsonl: a line an epoch. config.yaml, run.json: what was run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.best, self.last = path / "best", path / "last"
        self._state, self._metrics = self.last / "training.pt", path / "metrics.jsonl"

    @property
    def can_resume(self) -> bool:
        return self._state.is_file()

    def save_best(self, model: Model) -> None:
        save_model(model, self.best)

    def save_last(self, model: Model, optimizer: torch.optim.Optimizer, schedule: Any, progress: Progress) -> None:
        buffer = io.BytesIO()
        state = {
            "network": model.network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
            "progress": asdict(progress),
        }
        torch.save(state, buffer)
        self.last.mkdir(parents=True, exist_ok=True)
        replace_file(self._state, buffer.getvalue())
        if (self.last / "config.json").is_file():
            save_weights(model.network, self.last / "model.safetensors")
        else:
            save_model(model, self.last)

    def load_last(self, model: Model, optimizer: torch.optim.Optimizer, schedule: Any) -> Progress:
        """Put a run back to the end of its last whole epoch."""
        try:
            state = torch.load(self._state, map_location="cpu", weights_only=True)
            model.network.load_state_dict(state["network"])
            optimizer.load_state_dict(state["optimizer"])
            schedule.load_state_dict(state["schedule"])
            progress = Progress(**state["progress"])
        except Exception as error:
            raise DisconerError(
                "This run cannot be resumed: its state is damaged or of another configuration",
                where=Where(str(self._state)),
                got=str(error).split("\n")[0],
                fix="Resume with the configuration that it was started with, or start anew in another folder.",
            ) from error
        self._forget_after(progress.epoch)
        return progress

    def log(self, record: dict[str, Any]) -> None:
        with open(self._metrics, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")

    def _forget_after(self, epoch: int) -> None:
        """Drop the records of epochs that will be run again."""
        if self._metrics.is_file():
            lines = [line for line in self._metrics.read_text("utf-8").splitlines() if line.strip()]
            kept = [line for line in lines if json.loads(line)["epoch"] <= epoch]
            replace_file(self._metrics, "".join(f"{line}\n" for line in kept).encode())
