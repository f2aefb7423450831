"""Settings of measurements, times of jobs that run in turns, and their ratios. No torch here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from disconer.nn.runtime import Precision, RuntimeName

Part = Literal["throughput", "latency", "runtimes", "startup", "stages", "memory", "training"]
PARTS: tuple[Part, ...] = get_args(Part)
ClockName = Literal["wall", "cpu"]

MEGABYTE = 2**20
REPEATS = 5
SENTENCES = 320  # ten batches of those that the bare encoder runs in


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure.

    device: as torch names devices; None: the first GPU if there is one, else the CPU.
    runtime: None: the one that prediction chooses.
    precision, encoder_precision: of the recogniser, and of the bare encoder beside it.
    threads: of torch on the CPU; None: as many as it takes by itself.
    limit: sentences at least, if the data has as many; None: all.
    given: take sentences, tokens and heads from the data; else from the text alone.
    clock: the time that passes, or the processor time of this process, which others on the machine disturb less.
    """

    parts: tuple[Part, ...] = PARTS
    device: str | None = None
    runtime: RuntimeName | None = None
    precision: Precision = "fp32"
    encoder_precision: Precision = "fp32"
    threads: int | None = None
    repeats: int = REPEATS
    limit: int | None = SENTENCES
    given: bool = False
    clock: ClockName = "wall"


Clock = Callable[[], float]
Job = Callable[[], object]
Jobs = Mapping[str, Sequence[Job]]

_CLOCKS: dict[ClockName, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that a job took in each round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    def to_dict(self) -> dict[str, object]:
        return {"median": self.median, "seconds": list(self.seconds)}


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two medians, and the lowest and highest that any round gave."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, numerator: Timing, denominator: Timing) -> Ratio:
        rounds = [over / under for over, under in zip(numerator.seconds, denominator.seconds, strict=True)]
        return cls(numerator.median / denominator.median, min(rounds), max(rounds))

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def make_clock(name: ClockName, wait: Callable[[], None] | None = None) -> Clock:
    """A clock in seconds. wait: returns when the device has finished its work, so that this is counted."""
    read = _CLOCKS[name]
    if wait is None:
        return read

    def read_when_done() -> float:
        wait()
        return read()

    return read_when_done


def in_turns(jobs: Jobs, *, repeats: int, clock: Clock, warmup: int = 1) -> dict[str, Timing]:
    """Time jobs, each given as its pieces: the first piece of every job, the second of every job, and so on.

    So a temporary slowdown of the machine affects all jobs alike. A round goes through all pieces; its time is their
    sum. Warm-up rounds are not counted.
    """
    pieces = list(zip(*jobs.values(), strict=True))
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(warmup + repeats):
        spent = dict.fromkeys(jobs, 0.0)
        for turn in pieces:
            for name, piece in zip(jobs, turn, strict=True):
                start = clock()
                piece()
                spent[name] += clock() - start
        if number >= warmup:
            for name, time_spent in spent.items():
                seconds[name].append(time_spent)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}
