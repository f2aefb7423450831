"""Prediction, from text to entities: against the bare encoder, many sentences at once and one text at a time; runtime
against runtime, the same model in each, in turns; and from the start of a process to its first answer.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from disconer.bench.laps import batches_of
from disconer.bench.sample import Sample, sorted_batches
from disconer.bench.timing import MEGABYTE, Clock, Job, Jobs, Ratio, Timing, in_turns
from disconer.core.errors import DisconerError
from disconer.core.types import Document
from disconer.nn.arrays import WordArrays, word_arrays
from disconer.nn.runtime import Precision, RuntimeName
from disconer.nn.windows import Windower
from disconer.predict.recognizer import Recognizer

SINGLE_SENTENCES = 100  # of a sample, for the time of one by itself


class Encoder(Protocol):
    """A bare encoder: see `sample.BareEncoder` and `sample.OnnxEncoder`."""

    def load(self, arrays: Iterable[WordArrays]) -> list[Any]:
        """Batches where the encoder is, so that running it includes neither collation nor copies."""
        ...

    def run(self, batches: list[Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class Throughput:
    """Seconds for a whole sample.

    end_to_end: from text to entities.
    encoder: the bare encoder on batches of 32 sentences, sorted by length.
    encoder_own_batches: the bare encoder on the batches that the recogniser makes.
    """

    n_sentences: int
    n_entities: int
    end_to_end: Timing
    encoder: Timing
    encoder_own_batches: Timing

    def per_second(self, timing: Timing) -> float:
        return self.n_sentences / timing.median

    @property
    def ratio(self) -> Ratio:
        """End-to-end speed relative to the bare encoder's."""
        return Ratio.of(self.encoder, self.end_to_end)

    @property
    def ratio_own_batches(self) -> Ratio:
        return Ratio.of(self.encoder_own_batches, self.end_to_end)

    def to_dict(self) -> dict[str, object]:
        timings = {
            name: timing.to_dict() | {"sentences_per_second": self.per_second(timing)}
            for name, timing in (
                ("end_to_end", self.end_to_end),
                ("encoder", self.encoder),
                ("encoder_own_batches", self.encoder_own_batches),
            )
        }
        ratios = {"ratio": asdict(self.ratio), "ratio_own_batches": asdict(self.ratio_own_batches)}
        return {"sentences": self.n_sentences, "entities": self.n_entities, **timings, **ratios}


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds for sentences that come one at a time, all of them together."""

    n_sentences: int
    end_to_end: Timing
    encoder: Timing

    def milliseconds(self, timing: Timing) -> float:
        """The mean for a sentence, in the round in the middle."""
        return 1000 * timing.median / self.n_sentences

    @property
    def ratio(self) -> Ratio:
        return Ratio.of(self.encoder, self.end_to_end)

    def to_dict(self) -> dict[str, object]:
        timings = {
            name: timing.to_dict() | {"milliseconds": self.milliseconds(timing)}
            for name, timing in (("end_to_end", self.end_to_end), ("encoder", self.encoder))
        }
        return {"sentences": self.n_sentences, **timings, "ratio": asdict(self.ratio)}


def predict(recognizer: Recognizer, sample: Sample) -> int:
    """Find all entities of a sample, as users do; returns their number."""
    if sample.given:
        found = recognizer.annotate(sample.documents)
    else:
        found = recognizer.pipe([document.text for document in sample.documents])
    return sum(len(document.entities) for document in found)


def measure_throughput(
    recognizer: Recognizer, encoder: Encoder, sample: Sample, *, repeats: int, clock: Clock
) -> Throughput:
    """A whole sample at once."""
    model = recognizer.model
    by_length = encoder.load(sorted_batches(sample.windows, model.reader))
    own = encoder.load(batches_of(model, sample.segmented, recognizer.device))
    jobs: Jobs = {
        "end_to_end": [partial(predict, recognizer, sample)],
        "encoder": [partial(encoder.run, by_length)],
        "encoder_own_batches": [partial(encoder.run, own)],
    }
    n_entities = predict(recognizer, sample)
    return Throughput(sample.n_sentences, n_entities, **in_turns(jobs, repeats=repeats, clock=clock))


def measure_latency(
    recognizer: Recognizer, encoder: Encoder, windower: Windower, sample: Sample, *, repeats: int, clock: Clock
) -> Latency:
    """Sentence by sentence, the recogniser and the bare encoder in turns."""
    sentences = sample.single_sentences(SINGLE_SENTENCES)
    batches = []
    for passages in windower.passages_of([windower.segment(document) for document in sentences]):
        batches.append(encoder.load([word_arrays(passages, recognizer.model.reader)]))
    jobs: Jobs = {
        "end_to_end": single_predictions(recognizer, sentences, given=sample.given),
        "encoder": [partial(encoder.run, batch) for batch in batches],
    }
    return Latency(len(sentences), **in_turns(jobs, repeats=repeats, clock=clock))


def single_predictions(recognizer: Recognizer, sentences: Sequence[Document], *, given: bool) -> list[Job]:
    """The prediction of each sentence by itself."""
    if given:
        return [partial(_annotate_one, recognizer, document) for document in sentences]
    return [partial(recognizer, document.text) for document in sentences]


def _annotate_one(recognizer: Recognizer, document: Document) -> Document:
    return next(recognizer.annotate([document]))


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
    memory: its peak in megabytes, in the round with the lowest; None where the system does not report it.
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
