"""A training run, from configuration to model."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed

from disconer import __version__
from disconer.config import Config, DataConfig, dump_config
from disconer.errors import DisconerError, Where
from disconer.evaluate import Evaluation, evaluate
from disconer.model.batch import word_batch
from disconer.model.build import build_network
from disconer.model.checkpoint import Model, replace_file
from disconer.model.examples import Example, Windower, shuffled_batches
from disconer.model.pieces import PieceTokenizer
from disconer.model.resolve import load_encoder
from disconer.recognizer import Recognizer
from disconer.training.data import TrainingData, data_hash, read_data
from disconer.training.display import Display
from disconer.training.optimizer import build_optimizer, build_schedule
from disconer.training.state import Progress, RunFolder
from disconer.types import Document

EPOCH_SEEDS = 100_003  # each epoch seeds anew, so that a resumed run draws the same numbers as an unbroken one


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The best model's folder and figures."""

    folder: Path
    best_epoch: int
    dev: Evaluation
    test: Evaluation | None


def train(config: Config, out: Path, *, resume: bool = False, display: Display | None = None) -> TrainingResult:
    """Train a model and leave its best and last state in `out`."""
    folder = RunFolder(out)
    if folder.can_resume and not resume:
        raise DisconerError(
            "A training run is here already", where=Where(str(out)), fix="Add --resume, or choose another folder."
        )
    display = display or Display()
    set_seed(config.training.seed)
    accelerator = Accelerator(mixed_precision=_precision(config.training.precision))
    data = read_data(config.data)
    display.data(data)
    transformer, tokenizer = load_encoder(config.encoder.name)
    network = build_network(config, data.labels, transformer)
    model = Model(network, PieceTokenizer(tokenizer), config, data.labels)
    if accelerator.is_main_process:
        _describe(folder, config)
    loop = _Loop(config, model, data, folder, accelerator, display)
    loop.run(resume=resume)
    return _finish(folder, data, loop.progress, display, accelerator)


class _Loop:
    """The state of a run and what moves it on: steps, epochs, checkpoints."""

    def __init__(
        self,
        config: Config,
        model: Model,
        data: TrainingData,
        folder: RunFolder,
        accelerator: Accelerator,
        display: Display,
    ) -> None:
        self.settings = config.training
        self.model, self.folder, self.accelerator, self.display = model, folder, accelerator, display
        self.windower = Windower(config.data, model.tokenizer, model.max_pieces)
        self.examples = list(self.windower.examples(data.train))
        self.dev = data.dev
        self.group = self.settings.accumulate * accelerator.num_processes  # batches a step
        n_steps = sum(-(-len(self._plan(epoch)) // self.group) for epoch in range(1, self.settings.epochs + 1))
        self.optimizer = build_optimizer(model.network, self.settings)
        self.schedule = build_schedule(self.optimizer, self.settings, n_steps)
        self.progress = Progress()
        self.prepared: Any = None

    def run(self, *, resume: bool) -> None:
        if resume and self.folder.can_resume:
            self.progress = self.folder.load_last(self.model, self.optimizer, self.schedule)
        elif self.accelerator.is_main_process:
            self.folder.save_last(self.model, self.optimizer, self.schedule, self.progress)
        self.prepared, self.optimizer = self.accelerator.prepare(self.model.network, self.optimizer)
        with self.display.running(self.settings.epochs):
            while not self._finished:
                self._epoch(self.progress.epoch + 1)

    @property
    def _finished(self) -> bool:
        stale = self.progress.best_epoch > 0 and self.progress.epochs_without_gain >= self.settings.patience
        return self.progress.epoch >= self.settings.epochs or stale

    def _plan(self, epoch: int) -> list[list[int]]:
        lengths = [len(example.window) for example in self.examples]
        return shuffled_batches(lengths, self.settings.batch_tokens, self.settings.seed * EPOCH_SEEDS + epoch)

    def _epoch(self, epoch: int) -> None:
        started = time.perf_counter()
        set_seed(self.settings.seed * EPOCH_SEEDS + epoch)
        self.prepared.train()
        plan = self._plan(epoch)
        groups = [plan[first : first + self.group] for first in range(0, len(plan), self.group)]
        total = torch.zeros((), device=self.accelerator.device)
        for number, group in enumerate(groups, 1):
            total += self._step(group)
            self.display.step(epoch, number, len(groups))
        trained = time.perf_counter()
        loss = self.accelerator.reduce(total, reduction="sum").item() / len(self.examples)
        self._close_epoch(epoch, loss, started, trained)

    def _step(self, group: list[list[int]]) -> torch.Tensor:
        """One step of the optimizer over a group of batches, this process's share of them."""
        rank, n_processes = self.accelerator.process_index, self.accelerator.num_processes
        shares = group[rank::n_processes]
        weight = n_processes / sum(map(len, group))  # processes average their gradients: undone here
        summed = torch.zeros((), device=self.accelerator.device)
        for number, batch in enumerate(shares or group[:1]):
            last = number + 1 >= len(shares)
            with nullcontext() if last else self.accelerator.no_sync(self.prepared):
                loss = self._loss([self.examples[position] for position in batch])
                self.accelerator.backward(loss * (weight if shares else 0.0))
            summed += loss.detach() * bool(shares)
        if self.accelerator.sync_gradients:
            self.accelerator.clip_grad_norm_(self.prepared.parameters(), self.settings.clip)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return summed

    def _loss(self, examples: Sequence[Example]) -> torch.Tensor:
        windows = [example.window for example in examples]
        device = self.accelerator.device
        batch = word_batch(windows, self.model.tokenizer).to(device)
        targets = self.model.network.head.targets(windows, [example.entities for example in examples]).to(device)
        with self.accelerator.autocast():
            loss: torch.Tensor = self.prepared(batch, targets)
        return loss

    def _close_epoch(self, epoch: int, loss: float, started: float, trained: float) -> None:
        """Measure on dev, keep the best, save, log."""
        self.accelerator.wait_for_everyone()
        evaluation = evaluate_model(self.model, self.dev, self.accelerator.device)
        self.progress.epoch = epoch
        if evaluation.overall.f1 > self.progress.best_f1:
            self.progress.best_f1, self.progress.best_epoch = evaluation.overall.f1, epoch
            if self.accelerator.is_main_process:
                self.folder.save_best(self.model)
        record = {
            "epoch": epoch,
            "loss": loss,
            "dev_precision": evaluation.overall.precision,
            "dev_recall": evaluation.overall.recall,
            "dev_f1": evaluation.overall.f1,
            "dev_f1_discontinuous": evaluation.discontinuous.f1,
            "rate": self.schedule.get_last_lr()[-1],
            "train_seconds": trained - started,
            "seconds": time.perf_counter() - started,
        }
        if self.accelerator.is_main_process:
            self.folder.save_last(self.model, self.optimizer, self.schedule, self.progress)
            self.folder.log(record)
        self.display.epoch(record, best=self.progress.best_epoch == epoch)


def evaluate_model(model: Model, gold: list[Document], device: torch.device | None = None) -> Evaluation:
    """Predict `gold` anew and compare."""
    return evaluate(gold, Recognizer(model, device=device).annotate(gold))


def _finish(
    folder: RunFolder, data: TrainingData, progress: Progress, display: Display, accelerator: Accelerator
) -> TrainingResult:
    accelerator.wait_for_everyone()
    best = Recognizer.from_pretrained(folder.best, device=accelerator.device)
    dev = evaluate(data.dev, best.annotate(data.dev))
    test = None if data.test is None else evaluate(data.test, best.annotate(data.test))
    result = TrainingResult(folder.best, progress.best_epoch, dev, test)
    if accelerator.is_main_process:
        for name, evaluation in (("dev", dev), ("test", test)):
            if evaluation is not None:
                replace_file(folder.path / f"{name}.json", json.dumps(evaluation.to_dict(), indent=2).encode())
    display.result(result)
    return result


def _describe(folder: RunFolder, config: Config) -> None:
    """Leave beside the model what made it: configuration, versions, data."""
    folder.path.mkdir(parents=True, exist_ok=True)
    replace_file(folder.path / "config.yaml", dump_config(config).encode())
    facts = {"disconer": __version__, "python": platform.python_version(), **_versions(), "data": _hashes(config.data)}
    replace_file(folder.path / "run.json", json.dumps(facts, indent=2).encode())


def _versions() -> dict[str, str]:
    found = {}
    for package in ("torch", "transformers", "tokenizers", "accelerate", "safetensors"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _hashes(config: DataConfig) -> dict[str, str]:
    paths = {"train": config.train, "dev": config.dev, "test": config.test}
    return {split: data_hash(path) for split, path in paths.items() if path}


def _precision(wanted: str) -> str:
    """The name that Accelerate knows a number format by."""
    if wanted == "auto":
        return "bf16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "no"
    return "no" if wanted == "fp32" else wanted
