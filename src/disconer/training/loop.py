"""The training loop: steps, epochs, checkpoints, and evaluation by all processes together."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object

from disconer.core.background import made_ahead
from disconer.core.errors import DisconerError
from disconer.core.types import Document
from disconer.evaluate import Evaluation, evaluate
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch, size_multiple
from disconer.nn.scores import ScoreScale, fit_scale
from disconer.predict.recognizer import Recognizer
from disconer.runs.output_folder import Stateful
from disconer.store.checkpoint import Model
from disconer.text.syntax.spec import NONE
from disconer.training.display import Display
from disconer.training.examples import Batch, Example, Plan, Step
from disconer.training.optimizer import Adversary, build_optimizer, build_schedule
from disconer.training.predicted import PredictedModel
from disconer.training.state import EpochWriter, Progress, RunFolder


@dataclass(frozen=True, slots=True)
class Measured:
    """A model on a split. seconds: from segmented documents to entities."""

    gold: Sequence[Document]
    predicted: Sequence[Document]
    evaluation: Evaluation
    seconds: float

    @property
    def sentences(self) -> int:
        return sum(len(document.sentences or ()) for document in self.gold)


def measure(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> Measured:
    """Predict `gold`, divided among processes, and evaluate all of it once.

    Every process gets the same metrics, and so makes the same decisions about the best epoch and stopping.
    """
    start = time.perf_counter()
    predicted = predict_all(recognizer, gold, accelerator)
    seconds = time.perf_counter() - start
    return Measured(gold, predicted, evaluate(gold, predicted), seconds)


def scale_on(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> ScoreScale:
    """The scale that calibrates the scores of an uncalibrated recogniser on `gold`."""
    keys = {document.id: {entity.key for entity in document.entities} for document in gold}
    judged = [
        (entity.score or 0.0, entity.key in keys[document.id])
        for document in predict_all(recognizer, gold, accelerator)
        for entity in document.entities
    ]
    return fit_scale([score for score, _ in judged], [right for _, right in judged])


def predict_all(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> list[Document]:
    """Predictions for `gold`, in its order, divided among processes: each document once."""
    places = range(len(gold))[accelerator.process_index :: accelerator.num_processes]
    own = recognizer.annotate([gold[place] for place in places])
    predicted: list[tuple[int, Document]] = gather_object(list(zip(places, own, strict=True)))
    return [document for _, document in sorted(predicted, key=itemgetter(0))]


class Loop:
    """Trains a model for all epochs, or until dev F1 has not improved for `patience` epochs.

    predicted: what is measured and saved of the model.
    context: subwords of a passage; see `Windower`.
    """

    def __init__(
        self,
        model: Model,
        predicted: PredictedModel,
        examples: Sequence[Example],
        dev: Sequence[Document],
        folder: RunFolder,
        accelerator: Accelerator,
        display: Display,
        *,
        context: int,
    ) -> None:
        self.settings = model.config.training
        self.model, self.predicted, self.dev = model, predicted, dev
        self.windows = [example.window for example in examples]
        self.targets = [model.network.head.window_targets(example.window, example.entities) for example in examples]
        self.folder, self.accelerator, self.display = folder, accelerator, display
        self.plan = Plan(
            examples,
            self.settings,
            context=context,
            process=accelerator.process_index,
            n_processes=accelerator.num_processes,
        )
        optimizer = build_optimizer(model.network, self.settings)
        self.n_steps = self.plan.count_steps()
        self.schedule = build_schedule(optimizer, self.settings, self.n_steps)
        self.network, self.optimizer = accelerator.prepare(model.network, optimizer)
        self.adversary = _adversary(model)
        # Prepared before the state is loaded, so that tensors are loaded to the right device.
        self.parts: dict[str, Stateful] = {"optimizer": self.optimizer, "schedule": self.schedule}
        if accelerator.scaler is not None:
            self.parts["scaler"] = accelerator.scaler
        self.progress = Progress()
        self._writer = EpochWriter(folder, aside=accelerator.device.type != "cpu")

    def begin(self, *, resume: bool) -> None:
        """Load the state of a run, or save that of a new one: even if killed in its first epoch, it leaves a model."""
        if resume:
            self.progress = self.folder.load_last(self.model, self.parts)
            if self.progress.is_best and self.accelerator.is_main_process:
                self.folder.save_best(self.predicted, self.model.network.state_dict())
        else:
            self._save()
            self._writer.finish()

    def run(self) -> Progress:
        self.display.plan(self.plan.passes, self.n_steps)
        with self.display.running(self.settings.epochs, self.progress), self._writer:
            while not self._finished:
                self._epoch(self.progress.epoch + 1)
        return self.progress

    @property
    def _finished(self) -> bool:
        stale = self.progress.epochs_without_gain >= self.settings.patience
        return self.progress.epoch >= self.settings.epochs or stale

    def _epoch(self, epoch: int) -> None:
        started = time.perf_counter()
        loss = self.train_epoch(epoch)
        trained = time.perf_counter()
        self.display.measuring(epoch)
        model = self.predicted.take(self.model.network.state_dict())
        recognizer = Recognizer(model, device=self.accelerator.device, parser=NONE)
        evaluation = measure(recognizer, self.dev, self.accelerator).evaluation
        rate = self.schedule.get_last_lr()[-1]
        seconds = {"train_seconds": trained - started, "seconds": time.perf_counter() - started}
        self.progress.history.append(_record(epoch, loss, evaluation) | {"rate": rate} | seconds)
        self._save()
        self.display.epoch(self.progress)

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            self._writer.save(self.predicted, self.model.network.state_dict(), self.progress, self.parts)

    def train_epoch(self, epoch: int) -> float:
        """All passes of an epoch; returns the mean loss per example."""
        self.network.train()
        steps = self.plan.steps(epoch)
        tensors = made_ahead(self._tensors, [batch for step in steps for batch in step])
        total = torch.zeros((), device=self.accelerator.device)
        n_seen = 0
        for number, step in enumerate(steps, 1):
            total += self._step(step, tensors)
            n_seen += sum(len(batch.examples) for batch in step if batch.weight)
            self.display.step(epoch, number, len(steps), total / max(1, n_seen))
        n_examples = len(self.windows) * self.plan.passes
        loss: float = self.accelerator.reduce(total, reduction="sum").item() / n_examples
        if not math.isfinite(loss):
            raise DisconerError(
                f"Loss became NaN or infinite in epoch {epoch}: training diverged",
                fix="Start again with a lower training.encoder_rate and head_rate, or with training.precision=fp32.",
            )
        return loss

    def _step(self, step: Step, tensors: Iterator[tuple[WordBatch, Any]]) -> torch.Tensor:
        """One optimizer step; returns the summed loss of this process's batches."""
        summed = torch.zeros((), device=self.accelerator.device)
        for number, batch in enumerate(step, 1):
            torch.manual_seed(batch.seed)
            summed += self._learn(next(tensors), batch.weight, last=number == len(step)) * bool(batch.weight)
        self.accelerator.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if not self.optimizer.step_was_skipped:  # fp16 skips steps until its scale fits
            self.schedule.step()
        return summed

    def _learn(self, inputs: tuple[WordBatch, Any], weight: float, *, last: bool) -> torch.Tensor:
        """Accumulate the gradients of a batch, and of its adversarial version if enabled; returns its loss."""
        if self.adversary is None:
            return self._pass(inputs, weight, last=last)
        earlier = self.adversary.gradient()
        loss = self._pass(inputs, weight, last=False)
        with self.adversary.pushed(earlier):
            self._pass(inputs, weight, last=last)
        return loss

    def _pass(self, inputs: tuple[WordBatch, Any], weight: float, *, last: bool) -> torch.Tensor:
        # Only the last backward pass waits for the other processes, to average all gradients at once.
        with nullcontext() if last else self.accelerator.no_sync(self.network):
            loss: torch.Tensor = self.network(*inputs)
            self.accelerator.backward(loss * weight)
        return loss.detach()

    def _tensors(self, batch: Batch) -> tuple[WordBatch, Any]:
        """The network's input. Runs in the background, including the transfer to the device."""
        passages = [[self.windows[number] for number in passage] for passage in batch.passages]
        targets = self.model.network.head.batch_targets([self.targets[number] for number in batch.examples])
        device = self.accelerator.device
        arrays = word_arrays(passages, self.model.reader, multiple=size_multiple(device))
        return WordBatch.from_arrays(arrays, device), targets.to(device)


def _adversary(model: Model) -> Adversary | None:
    length, table = model.config.training.adversarial, model.network.words.encoder.vectors
    return Adversary(table, length) if length and table is not None and table.requires_grad else None


def _record(epoch: int, loss: float, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "epoch": epoch,
        "loss": loss,
        "dev_precision": evaluation.overall.precision,
        "dev_recall": evaluation.overall.recall,
        "dev_f1": evaluation.overall.f1,
        "dev_f1_discontinuous": evaluation.discontinuous.f1,
    }
