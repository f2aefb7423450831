"""The training loop: steps until the budget is spent, at the learning rate that fits it.

Also the held-out perplexity, and how many sequences fit into memory at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import broadcast
from torch import Tensor, nn

from disconer.adapt.batches import Batch, Fed, Feed, Masker, Plan
from disconer.adapt.cache import Sequences
from disconer.adapt.display import Display
from disconer.adapt.settings import AdaptSettings
from disconer.adapt.state import AdaptFolder, Progress
from disconer.core.background import made_ahead
from disconer.core.errors import DisconerError
from disconer.runs.output_folder import Stateful

MEASURED = 1024  # sequences at most, spread over the held-out text
SEED = 0  # of the masks, the same at every measurement
WORST = 700.0  # nats; exp of more overflows


@torch.no_grad()
def perplexity(
    network: nn.Module, sequences: Sequences, masker: Masker, accelerator: Accelerator, *, at_once: int
) -> float:
    """Perplexity of masked subwords."""
    was_training = network.training
    network.eval()
    chosen = np.unique(np.linspace(0, len(sequences) - 1, min(MEASURED, len(sequences))).astype(np.int64))
    parts = [chosen[first : first + at_once] for first in range(0, len(chosen), at_once)]
    feed = Feed(sequences, accelerator.device)
    bare = accelerator.unwrap_model(network)  # processes need not synchronise here
    total, n_guesses = (torch.zeros((), device=accelerator.device) for _ in range(2))
    for number in range(accelerator.process_index, len(parts), accelerator.num_processes):
        seed, fed = feed(Batch(parts[number], SEED + number))
        torch.manual_seed(seed)
        loss, count = bare(masker(*fed))
        total += loss
        n_guesses += count
    total, n_guesses = accelerator.reduce(total), accelerator.reduce(n_guesses)
    network.train(was_training)
    return math.exp(min(WORST, float(total) / max(1.0, float(n_guesses))))


ON_CPU = 32  # sequences: more are not faster there


def sequences_at_once(
    settings: AdaptSettings, network: nn.Module, masker: Masker, accelerator: Accelerator, *, mark: int
) -> int:
    """The requested number, or what fits into memory, such that steps divide evenly.

    mark: any subword, for the trial.
    """
    n_processes = accelerator.num_processes
    if settings.batch % n_processes:
        raise DisconerError(
            f"A step of {settings.batch} sequences does not divide among {n_processes} processes",
            fix=f"Choose a batch that is a multiple of {n_processes}.",
        )
    per_process = settings.batch // n_processes
    if settings.at_once is not None or accelerator.device.type != "cuda":
        limit = min(per_process, settings.at_once or ON_CPU)
        return max(size for size in range(1, limit + 1) if per_process % size == 0)
    sizes = sizes_to_try(per_process)
    fitting = next((size for size in sizes if _fits(size, settings.length, network, masker, accelerator, mark)), 1)
    return int(accelerator.gather(torch.tensor([fitting], device=accelerator.device)).min())


def sizes_to_try(per_process: int) -> list[int]:
    """Divisors of a process's part of a step, from all of it to one, each at most half of the one before."""
    sizes = [per_process]
    for size in range(per_process // 2, 0, -1):
        if per_process % size == 0 and size <= sizes[-1] / 2:
            sizes.append(size)
    return sizes


def _fits(size: int, length: int, network: nn.Module, masker: Masker, accelerator: Accelerator, mark: int) -> bool:
    """Whether a forward and backward pass of a batch fits into memory."""
    try:
        with accelerator.no_sync(network):
            ids = torch.full((size, length), mark, device=accelerator.device)
            loss, _ = network(masker(ids))
            accelerator.backward(loss)
    except torch.OutOfMemoryError:
        return False
    finally:
        network.zero_grad()
        torch.cuda.empty_cache()
    return True


def by_first_process(value: float, accelerator: Accelerator) -> float:
    """The first process's value, in every process."""
    if accelerator.num_processes == 1:
        return value
    return float(broadcast(torch.tensor(value, device=accelerator.device)))


@dataclass(frozen=True, slots=True)
class Budget:
    """Ends after `steps` or `seconds`, whichever comes first."""

    steps: int | None
    seconds: float | None

    def done(self, step: float, elapsed: float) -> float:
        """The fraction used before a step (counted from 0) that starts after `elapsed` seconds."""
        by_steps = step / self.steps if self.steps else 0.0
        by_time = elapsed / self.seconds if self.seconds else 0.0
        return max(by_steps, by_time)


def rate_factor(done: float, warmup: float) -> float:
    """The fraction of the peak rate: linear warm-up, then linear decay to zero."""
    if done < warmup:
        return done / warmup
    return max(0.0, (1 - done) / (1 - warmup))


class Clock:
    """The seconds that a run has taken, including those before an interruption."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def add(self, seconds: float) -> None:
        """Add the time of an interrupted run."""
        self._started -= seconds


BETAS, EPSILON = (0.9, 0.98), 1e-6  # as is usual for masked language models
SMALL = 512  # hidden size up to which the higher rate is used
RATE, RATE_OF_LARGE = 5e-4, 1e-4


def usual_rate(width: int) -> float:
    """The peak learning rate, by hidden size: larger encoders forget more easily."""
    return RATE if width <= SMALL else RATE_OF_LARGE


def build_optimizer(network: nn.Module, *, rate: float, weight_decay: float) -> torch.optim.AdamW:
    """Fused AdamW; no weight decay on biases and norms."""
    parameters = list(network.parameters())
    groups = [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": weight_decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, eps=EPSILON, fused=True)


RECORD = 20  # steps between readings of the loss: each synchronises with the device
CLIP = 1.0  # maximum gradient norm


@dataclass(slots=True, kw_only=True)
class Loop:
    """Trains until the budget is spent.

    network, optimizer: prepared by the accelerator.
    rate: the peak learning rate.
    parts: the stateful parts of a run other than the network.
    """

    network: nn.Module
    optimizer: Any
    rate: float
    plan: Plan
    feed: Feed
    masker: Masker
    budget: Budget
    clock: Clock
    settings: AdaptSettings
    folder: AdaptFolder
    parts: dict[str, Stateful]
    accelerator: Accelerator
    display: Display

    def run(self, progress: Progress) -> None:
        """Train from `progress` to the end."""
        self.network.train(self.settings.dropout)  # dropout only if asked for
        losses = Losses(self.accelerator)
        kept = self.clock.elapsed()
        with closing(made_ahead(self.feed, self.plan.batches(progress.step))) as tensors:
            for rate in self._rates(progress):
                self._set_rate(rate)
                losses.add(*self._step(tensors))
                progress.step += 1
                self.display.step(progress, self._done(progress))
                if progress.step % RECORD == 0:
                    self._record(progress, losses, rate)
                    if self.clock.elapsed() - kept >= 60 * self.settings.save_minutes:
                        self.keep(progress)
                        kept = self.clock.elapsed()
            if progress.step % RECORD:
                self._record(progress, losses, rate)

    def keep(self, progress: Progress) -> None:
        """Save the state for `--resume`."""
        if self.accelerator.is_main_process:
            self.folder.save(self.accelerator.unwrap_model(self.network), progress, self.parts)

    def _rates(self, progress: Progress) -> Iterator[float]:
        """The learning rate of each step: at least one step, then as long as there is time for another."""
        first_step, first_elapsed = progress.step, self._elapsed()
        elapsed = first_elapsed
        step_seconds = 0.0
        while not progress.step or self.budget.done(progress.step, elapsed + step_seconds) < 1:
            # The schedule is evaluated at the middle of a step, so that no step has a rate of zero.
            yield self.rate * rate_factor(self.budget.done(progress.step + 0.5, elapsed), self.settings.warmup)
            elapsed = self._elapsed()
            step_seconds = (elapsed - first_elapsed) / (progress.step - first_step)

    def _elapsed(self) -> float:
        """The time so far, by the first process's clock: all must use the same rate and stop together."""
        elapsed = self.clock.elapsed()
        return elapsed if self.budget.seconds is None else by_first_process(elapsed, self.accelerator)

    def _done(self, progress: Progress) -> float:
        return self.budget.done(progress.step, self.clock.elapsed())

    def _set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _step(self, tensors: Iterator[Fed]) -> tuple[Tensor, Tensor]:
        """One optimizer step; returns the summed loss of this process's masked subwords, and their number."""
        n_batches = self.plan.batches_a_step
        summed, n_guesses = (torch.zeros((), device=self.accelerator.device) for _ in range(2))
        for number in range(1, n_batches + 1):
            seed, fed = next(tensors)
            # Only the last backward pass waits for the other processes, to average all gradients at once.
            with nullcontext() if number == n_batches else self.accelerator.no_sync(self.network):
                torch.manual_seed(seed)
                loss, count = self.network(self.masker(*fed))
                self.accelerator.backward(loss / count.clamp(min=1) / n_batches)
            summed += loss.detach()
            n_guesses += count
        self.accelerator.clip_grad_norm_(self.network.parameters(), CLIP)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return summed, n_guesses

    def _record(self, progress: Progress, losses: Losses, rate: float) -> None:
        loss = losses.mean()
        if not math.isfinite(loss):
            raise DisconerError(
                f"Loss became NaN at step {progress.step:,}: training diverged",
                fix="Start again with a lower learning rate, or with precision fp32.",
            )
        progress.elapsed = self.clock.elapsed()
        record = {"step": progress.step, "loss": loss, "rate": rate, "seconds": round(progress.elapsed, 2)}
        progress.history.append(record)
        self.display.record(progress, self._done(progress))


class Losses:
    """The loss over several steps, accumulated on the device."""

    def __init__(self, accelerator: Accelerator) -> None:
        self._accelerator = accelerator
        self._sums = torch.zeros(2, device=accelerator.device)  # loss, masked subwords

    def add(self, loss: Tensor, n_guesses: Tensor) -> None:
        self._sums += torch.stack([loss, n_guesses])

    def mean(self) -> float:
        """The mean over all processes since the last call."""
        loss, n_guesses = self._accelerator.reduce(self._sums, reduction="sum").tolist()
        self._sums = torch.zeros_like(self._sums)
        return float(loss / max(1.0, n_guesses))
