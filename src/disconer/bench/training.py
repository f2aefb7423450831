"""A training step against the bare encoder's forward and backward pass."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch
from accelerate import Accelerator

from disconer.bench.sample import BareEncoder, Sample
from disconer.bench.timing import Clock, Jobs, Ratio, Timing, in_turns
from disconer.config import Config
from disconer.core.errors import DisconerError
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch
from disconer.nn.windows import Windower
from disconer.runs.processes import build_accelerator
from disconer.store.checkpoint import Model
from disconer.training.display import Display
from disconer.training.examples import Example, Learnable, make_examples
from disconer.training.loop import Loop
from disconer.training.predicted import predicted_model
from disconer.training.state import RunFolder

EPOCH = 1  # its plan is run again and again, so that all rounds have the same batches
_ON_CPU = "ACCELERATE_USE_CPU"


@dataclass(frozen=True, slots=True)
class Training:
    """Seconds for all steps on a sample.

    step: as training goes: batches made ahead, forward, backward, clipping, optimizer.
    encoder: the bare encoder's forward and backward pass on the same batches, in the same precision.
    """

    n_steps: int
    step: Timing
    encoder: Timing

    def milliseconds(self, timing: Timing) -> float:
        """Of one step, in the round in the middle."""
        return 1000 * timing.median / self.n_steps

    @property
    def ratio(self) -> Ratio:
        """The time of a step relative to the bare encoder."""
        return Ratio.of(self.step, self.encoder)

    def to_dict(self) -> dict[str, object]:
        timings = {
            name: timing.to_dict() | {"milliseconds": self.milliseconds(timing)}
            for name, timing in (("step", self.step), ("encoder", self.encoder))
        }
        return {"steps": self.n_steps, **timings, "ratio": asdict(self.ratio)}


def measure_training(
    model: Model, windower: Windower, sample: Sample, device: torch.device, *, repeats: int, clock: Clock
) -> Training:
    """Train a copy of the model on the sample, in turns with the bare encoder."""
    examples = _examples(model, windower, sample)
    with _on(device):
        accelerator = build_accelerator(model.config.training.precision)
    encoder = _TrainedEncoder(BareEncoder(model, accelerator.device), accelerator)
    copy = replace(model, network=deepcopy(model.network), config=_one_pass(model.config))
    folder, display = RunFolder(Path("unused")), Display(quiet=True)
    predicted = predicted_model(copy, copy.labels)
    loop = Loop(copy, predicted, examples, [], folder, accelerator, display, context=windower.context)
    steps = loop.plan.steps(EPOCH)
    batches = [
        WordBatch.from_arrays(
            word_arrays([[examples[number].window for number in passage] for passage in batch.passages], model.reader),
            accelerator.device,
        )
        for step in steps
        for batch in step
    ]
    jobs: Jobs = {"step": [partial(loop.train_epoch, EPOCH)], "encoder": [partial(encoder.run, batches)]}
    return Training(len(steps), **in_turns(jobs, repeats=repeats, clock=clock))


def _one_pass(config: Config) -> Config:
    """A sample is small; further passes over it show nothing that the repeats do not."""
    training = config.training.model_copy(update={"steps_at_least": 0})
    return config.model_copy(update={"training": training})


def _examples(model: Model, windower: Windower, sample: Sample) -> list[Example]:
    account = Learnable(model.config.head)
    examples = make_examples(sample.segmented, windower, account)
    known = {entity.label for example in examples for entity in example.entities} & set(model.labels)
    if not known:
        raise DisconerError(
            "The data has no entities with the model's labels, so there is nothing to train on",
            expected=f"some of {', '.join(model.labels)}",
            fix="Give annotated data with --data, or add --no-training.",
        )
    return examples


class _TrainedEncoder:
    """The bare encoder, forwards and backwards."""

    def __init__(self, encoder: BareEncoder, accelerator: Accelerator) -> None:
        self._encoder, self._accelerator = encoder, accelerator
        encoder.module.train().requires_grad_(True)  # also where the model keeps its encoder frozen

    def run(self, batches: list[WordBatch]) -> None:
        for batch in batches:
            with self._accelerator.autocast():
                vectors = self._encoder.forward(batch)
            self._accelerator.backward(vectors.float().sum())
            self._encoder.module.zero_grad()


@contextmanager
def _on(device: torch.device) -> Iterator[None]:
    """Have Accelerate take the CPU where that was asked for, although there is a GPU."""
    before = os.environ.get(_ON_CPU)
    if device.type == "cpu":
        os.environ[_ON_CPU] = "true"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_ON_CPU, None)
        else:
            os.environ[_ON_CPU] = before
