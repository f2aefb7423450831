"""How long a run goes on, the learning rate that fits it, and what all processes must see alike."""

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
        """The share that is spent before a step, counted from 0, that begins after `elapsed` seconds."""
        by_steps = step / self.steps if self.steps else 0.0
        by_time = elapsed / self.seconds if self.seconds else 0.0
        return max(by_steps, by_time)


def rate_share(done: float, warmup: float) -> float:
    """The share of the highest rate: up over the warm-up, then down to zero, in straight lines."""
    if done < warmup:
        return done / warmup
    return max(0.0, (1 - done) / (1 - warmup))


class Clock:
    """The seconds that a run has taken, those before an interruption included."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def add(self, seconds: float) -> None:
        """Count what an interrupted run took before."""
        self._started -= seconds
