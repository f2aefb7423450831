"""The files of a run: its configuration and progress, so that it can be killed at any moment and resumed.

If a GPU does the work, epochs are saved while the next one is trained.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.places import RUN_FOLDERS, TRAINING_STATE, WEIGHTS
from disconer.evaluate.entity_lists import LISTS
from disconer.nn.weights import write_weights
from disconer.runs.output_folder import Stateful, check_folder, save_state
from disconer.store.checkpoint import Model, save_model
from disconer.training.predicted import PredictedModel

BEST, LAST = RUN_FOLDERS
SPEED = "speed.json"


@dataclass(slots=True)
class Progress:
    """The progress of a run: one record per epoch, with its number and its F1 on dev."""

    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        return len(self.history)

    @property
    def best(self) -> dict[str, Any] | None:
        """The epoch with the highest F1 on dev; ties: the first. While nothing is found: the last one."""
        if not self.found_any:
            return self.history[-1] if self.history else None
        return max(self.history, key=lambda record: float(record["dev_f1"]))

    @property
    def found_any(self) -> bool:
        """Whether an epoch found any entity of dev."""
        return any(record["dev_f1"] for record in self.history)

    @property
    def is_best(self) -> bool:
        """Whether the last epoch is the best one."""
        return self.best is not None and self.best is self.history[-1]

    @property
    def epochs_without_gain(self) -> int:
        """Epochs since the best; 0 as long as no entity was found: small corpora need some epochs to start."""
        return self.epoch - self.best["epoch"] if self.best and self.best["dev_f1"] else 0


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """What is saved at the end of an epoch.

    weights: of the network. history: see `Progress`. parts: the states of everything else that has one.
    """

    weights: dict[str, torch.Tensor]
    history: list[dict[str, Any]]
    is_best: bool
    parts: dict[str, Any]


class RunFolder:
    """The files of a run.

    run.json, config.yaml: what was run; written first and second.
    best/, last/: model folders.
    training.pt: network, optimizer and progress at the end of an epoch, in one file: they always belong together.
    metrics.jsonl: one line per epoch.
    test.json, dev.json: the metrics of the best model; dev.json is written last of all, when the run is complete.
    dev.entities.jsonl, test.entities.jsonl: its entities beside the gold ones. speed.json: how fast it found them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.best, self.last = self.models = path / BEST, path / LAST
        self.facts, self.config = path / "run.json", path / "config.yaml"
        self._state, self._metrics = path / TRAINING_STATE, path / "metrics.jsonl"

    @property
    def can_resume(self) -> bool:
        return self._state.is_file()

    @property
    def state_hash(self) -> str | None:
        """A fingerprint of the state to resume, if there is one."""
        if not self.can_resume:
            return None
        with open(self._state, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:8]

    def open(self, *, resume: bool, force: bool = False) -> None:
        """Create the folder, unless it holds something else.

        resume, force: a run that is there may be continued, or replaced; see `remove_run`.
        """
        check_folder(self.path, self.facts, product="the run", run="a training run", resume=resume or force)
        self.path.mkdir(parents=True, exist_ok=True)

    def remove_run(self) -> None:
        """Remove the files of a run, and nothing else; what marks it as a run goes last."""
        for folder in self.models:
            if folder.is_dir():
                shutil.rmtree(folder)
        measured = (
            self.path / name for split in ("dev", "test") for name in (f"{split}.json", LISTS.format(split=split))
        )
        for file in (self._state, self._metrics, *measured, self.path / SPEED, self.config, self.facts):
            file.unlink(missing_ok=True)

    def save(self, predicted: PredictedModel, end: EpochEnd) -> None:
        """Save the end of an epoch: the last model, then the state, then the best model if this epoch is the best.

        The best model must not be of an epoch that no state has: a resumed run repeats that epoch, and may learn
        something else. If the run is killed between the two, the best model is saved when it is resumed (`Loop.begin`).
        """
        _save_model(predicted, self.last, end.weights)
        replace_file(self._metrics, "".join(f"{json.dumps(record)}\n" for record in end.history).encode())
        save_state({"network": end.weights, "history": end.history, **end.parts}, self._state)
        if end.is_best:
            self.save_best(predicted, end.weights)

    def save_best(self, predicted: PredictedModel, learned: Mapping[str, torch.Tensor]) -> None:
        _save_model(predicted, self.best, learned)

    def load_last(self, model: Model, parts: dict[str, Stateful]) -> Progress:
        """Restore a run to the end of its last complete epoch."""
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
                fix="Start again in another folder.",
            ) from error


def _save_model(predicted: PredictedModel, folder: Path, learned: Mapping[str, torch.Tensor]) -> None:
    """Only the weights change between epochs; they are written last, so if they exist, everything does.

    learned: the weights of the trained network.
    """
    weights = predicted.weights(learned)
    if (folder / WEIGHTS).is_file():
        write_weights(weights, folder / WEIGHTS)
    else:
        save_model(predicted.model, folder, weights)


class EpochWriter:
    """Saves finished epochs to the folder of a run. As a context manager, it leaves none half written.

    aside: whether the next epoch may begin meanwhile. Then a copy in memory is written, and an epoch that was not
        completely written when a run was killed is repeated when it is resumed.
    """

    def __init__(self, folder: RunFolder, *, aside: bool) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="saving") if aside else None
        self._writing: Future[None] | None = None

    def save(
        self,
        predicted: PredictedModel,
        learned: dict[str, torch.Tensor],
        progress: Progress,
        parts: dict[str, Stateful],
    ) -> None:
        """learned: the weights of the trained network."""
        states = {name: part.state_dict() for name, part in parts.items()}
        end = EpochEnd(learned, [*progress.history], progress.is_best, states)
        if self._pool is None:
            self._folder.save(predicted, end)
            return
        self.finish()
        copy = EpochEnd(copied(end.weights), end.history, end.is_best, copied(states))
        self._writing = self._pool.submit(self._folder.save, predicted, copy)

    def __enter__(self) -> EpochWriter:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.finish()
        finally:
            if self._pool is not None:
                self._pool.shutdown()

    def finish(self) -> None:
        """Wait until everything is written; errors are raised here."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()


def copied(state: Any) -> Any:
    """A state with copies of its tensors on the CPU."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {name: copied(value) for name, value in state.items()}
    return [copied(value) for value in state] if isinstance(state, list) else state
