"""Runtime against runtime: the same model in each, in turns; and from the start of a process to its first answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from disconer.bench.environment import MEGABYTE
from disconer.bench.prediction import SINGLE_SENTENCES, predict, single_predictions
from disconer.bench.sample import Sample
from disconer.bench.timing import Clock, Timing, in_turns
from disconer.core.errors import DisconerError
from disconer.nn.runtime import Precision, RuntimeName
from disconer.predict.recognizer import Recognizer

TEXT = "Severe cardiac, hepatic or renal insufficiency within the last 6 months."


class Way(NamedTuple):
    """How a network is run."""

    runtime: RuntimeName
    precision: Precision

    def __str__(self) -> str:
        return self.runtime if self.precision != "int8" else f"{self.runtime}, int8"


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Seconds from text to entities by runtime: of a whole sample, and of sentences that come one at a time."""

    n_sentences: int
    n_single: int
    many: Mapping[str, Timing]
    single: Mapping[str, Timing]

    def to_dict(self) -> dict[str, object]:
        return {
            runtime: {
                "sentences_per_second": self.n_sentences / self.many[runtime].median,
                "milliseconds": 1000 * self.single[runtime].median / self.n_single,
                "many": self.many[runtime].to_dict(),
                "single": self.single[runtime].to_dict(),
            }
            for runtime in self.many
        }


def measure_runtimes(ways: Mapping[Way, Recognizer], sample: Sample, *, repeats: int, clock: Clock) -> Runtimes:
    """The recognisers of one model, each in another runtime or precision."""
    sentences = sample.single_sentences(SINGLE_SENTENCES)
    many = {str(way): [partial(predict, recognizer, sample)] for way, recognizer in ways.items()}
    single = {
        str(way): single_predictions(recognizer, sentences, given=sample.given) for way, recognizer in ways.items()
    }
    return Runtimes(
        sample.n_sentences,
        len(sentences),
        in_turns(many, repeats=repeats, clock=clock),
        in_turns(single, repeats=repeats, clock=clock),
    )


@dataclass(frozen=True, slots=True)
class Startup:
    """A process of its own that finds the entities of one sentence.

    seconds: from its start to its end, in each round.
    memory: the most that it took, in megabytes, in the round that took least; None where the system does not tell.
    """

    seconds: Timing
    memory: float | None

    def to_dict(self) -> dict[str, object]:
        return {**self.seconds.to_dict(), "memory": self.memory}


def measure_startup(folder: Path, ways: Iterable[Way], *, repeats: int) -> dict[str, Startup]:
    """`disconer predict --text` with the model in a folder, in each of some ways."""
    return {str(way): _start(folder, way, repeats) for way in ways}


def _start(folder: Path, way: Way, repeats: int) -> Startup:
    command = [sys.executable, "-m", "disconer", "predict", "--text", TEXT, "--model", str(folder)]
    options = ["--device", "cpu", "--runtime", way.runtime, "--precision", way.precision]
    rounds = [_run([*command, *options]) for _ in range(1 + repeats)][1:]  # the first finds files in no cache
    peaks = [peak for _, peak in rounds if peak is not None]
    return Startup(Timing(tuple(seconds for seconds, _ in rounds)), min(peaks, default=None))


# Runs a command and prints its seconds, its peak memory in the units of the system, and its exit code. A small process
# of its own: on Linux a child's peak begins with the memory of what forked it.
_TIMED = """\
import os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
if hasattr(os, "wait4"):
    _, status, usage = os.wait4(process.pid, 0)
    code, peak = os.waitstatus_to_exitcode(status), usage.ru_maxrss
else:
    code, peak = process.wait(), 0
print(time.perf_counter() - started, peak, code)
"""


def _run(command: list[str]) -> tuple[float, float | None]:
    """Seconds, and megabytes at most."""
    ran = subprocess.run([sys.executable, "-c", _TIMED, *command], capture_output=True, text=True, check=True)
    seconds, peak, code = map(float, ran.stdout.split())
    if code:
        raise DisconerError("A process that was to be timed failed", got=ran.stderr)
    return seconds, peak * (1 if sys.platform == "darwin" else 1024) / MEGABYTE if peak else None
