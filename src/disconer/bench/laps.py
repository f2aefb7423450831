"""Timing the stages of a recogniser, and models that are instrumented for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from torch import nn

from disconer.bench.timing import Clock
from disconer.config import Config
from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.nn.arrays import WordArrays
from disconer.nn.network import AnyNetwork
from disconer.nn.reader import Reader, Subwords
from disconer.nn.runtime import AnyModel, Device, Precision, Runtime
from disconer.nn.scores import ScoreScale
from disconer.nn.windows import Found
from disconer.predict.recognizer import Recognizer

SPLIT, WORDS, PARSE, SUBWORDS, COLLATE = "split", "words", "parse", "subwords", "collate"
ENCODE, LSTM, GCN, DECODE, ASSEMBLE = "encode", "BiLSTM", "GCN", "decode", "assemble"
NETWORK = "network and decode"  # if a runtime cannot be timed inside
BEFORE_HEAD = (SPLIT, WORDS, PARSE, SUBWORDS, COLLATE, ENCODE, LSTM, GCN)
AFTER_HEAD = (DECODE, NETWORK, ASSEMBLE)


class Laps:
    """Time by stage: `passed(stage)` gives the stage all the time since the last call.

    That is enough where nothing runs beside anything else, which `stages.Staged` sees to.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.rounds: list[dict[str, float]] = []
        self.head_stages: tuple[str, ...] = ()

    def begin(self) -> None:
        self.rounds.append({})
        self._last = self._clock()

    def passed(self, stage: str) -> None:
        now = self._clock()
        self.rounds[-1][stage] = self.rounds[-1].get(stage, 0.0) + now - self._last
        self._last = now

    def medians(self, repeats: int) -> dict[str, float]:
        """Of each stage, its median time over the last `repeats` rounds; stages that never ran are left out."""
        counted = self.rounds[-repeats:]
        of_stages = {
            stage: median(one.get(stage, 0.0) for one in counted)
            for stage in (*BEFORE_HEAD, *self.head_stages, *AFTER_HEAD)
        }
        return {stage: seconds for stage, seconds in of_stages.items() if seconds}


class TimedReader:
    """See `Reader`."""

    def __init__(self, reader: Reader, laps: Laps) -> None:
        self.prefix, self.suffix, self.padding = reader.prefix, reader.suffix, reader.padding
        self._reader, self._laps = reader, laps

    def __call__(self, text: str, sentences: Sequence[Sentence]) -> list[Subwords]:
        self._laps.passed(COLLATE)
        subwords = self._reader(text, sentences)
        self._laps.passed(SUBWORDS)
        return subwords

    def save(self, folder: Path) -> None:
        self._reader.save(folder)


class TimedRuntime:
    """Gives a runtime one batch at a time, so that nothing is computed ahead. See `Runtime`."""

    def __init__(self, runtime: Runtime, laps: Laps, last_stage: str) -> None:
        self.name, self.device, self.size_multiple = runtime.name, runtime.device, runtime.size_multiple
        self.batch_overhead = runtime.batch_overhead
        self.batch_subwords, self.batch_cells = runtime.batch_subwords, runtime.batch_cells
        self._runtime, self._laps, self._last_stage = runtime, laps, last_stage

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        for arrays in batches:
            self._laps.passed(COLLATE)
            found = list(self._runtime.find([arrays]))
            self._laps.passed(self._last_stage)
            yield from found

    def near(self) -> TimedRuntime:
        return TimedRuntime(self._runtime.near(), self._laps, self._last_stage)


def watch_network(network: AnyNetwork, laps: Laps) -> None:
    """Note the time around the parts of a network."""
    words, head = network.words, network.head
    _before(words, laps, COLLATE)
    for part, stage in ((words.encoder, ENCODE), (words.lstm, LSTM), (words.gcn, GCN)):
        _after(part, laps, stage)
    laps.head_stages = tuple(head.stages)
    for stage, module in head.stages.items():
        _before(module, laps, DECODE)
        _after(module, laps, stage)


def _before(module: nn.Module | None, laps: Laps, stage: str) -> None:
    def note(*_: Any) -> None:
        laps.passed(stage)

    if module is not None:
        module.register_forward_pre_hook(note)


def _after(module: nn.Module | None, laps: Laps, stage: str) -> None:
    def note(*_: Any) -> None:
        laps.passed(stage)

    if module is not None:
        module.register_forward_hook(note)


@dataclass(frozen=True, slots=True)
class WatchedModel:
    """A model with another reader and a wrapped runtime. See `AnyModel`."""

    model: AnyModel
    reader: Reader
    wrap: Callable[[Runtime], Runtime]

    @property
    def config(self) -> Config:
        return self.model.config

    @property
    def labels(self) -> tuple[str, ...]:
        return self.model.labels

    @property
    def max_subwords(self) -> int | None:
        return self.model.max_subwords

    @property
    def scale(self) -> ScoreScale:
        return self.model.scale

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> Runtime:
        return self.wrap(self.model.runtime(device, precision))

    def save(self, folder: Path) -> None:
        self.model.save(folder)


class RecordingRuntime:
    """Keeps the batches that it is given, and finds nothing in them."""

    def __init__(self, runtime: Runtime, batches: list[WordArrays]) -> None:
        self.name, self.device, self.size_multiple = runtime.name, runtime.device, runtime.size_multiple
        self.batch_overhead = runtime.batch_overhead
        self.batch_subwords, self.batch_cells = runtime.batch_subwords, runtime.batch_cells
        self._batches = batches

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        for arrays in batches:
            self._batches.append(arrays)
            yield [[] for _ in arrays.lengths]

    def near(self) -> RecordingRuntime:
        return self


def batches_of(model: AnyModel, documents: list[Document], device: Device) -> list[WordArrays]:
    """The batches that the recogniser of a model makes of documents."""
    batches: list[WordArrays] = []
    watched = WatchedModel(model, model.reader, lambda runtime: RecordingRuntime(runtime, batches))
    for _ in Recognizer(watched, device=device, parser="none").annotate(documents):
        pass
    return batches
