"""The budget of a run in steps or time, its learning rate schedule, and values shared by all processes."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast


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


def rate_share(done: float, warmup: float) -> float:
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
