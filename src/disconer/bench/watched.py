"""Models whose recogniser is watched at work, through what any runtime offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from disconer.config import Config
from disconer.core.types import Document
from disconer.nn.arrays import WordArrays
from disconer.nn.found import Found
from disconer.nn.reader import Reader
from disconer.nn.runtime import AnyModel, Device, Precision, Runtime
from disconer.nn.scores import ScoreScale
from disconer.predict.recognizer import Recognizer


@dataclass(frozen=True, slots=True)
class WatchedModel:
    """A model with another reader, and a runtime that something is wrapped around. See `AnyModel`."""

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
    def max_pieces(self) -> int | None:
        return self.model.max_pieces

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
        self.device, self.size_multiple = runtime.device, runtime.size_multiple
        self.batch_overhead = runtime.batch_overhead
        self.batch_pieces, self.batch_spans = runtime.batch_pieces, runtime.batch_spans
        self._batches = batches

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        for arrays in batches:
            self._batches.append(arrays)
            yield [[] for _ in arrays.lengths]


def batches_of(model: AnyModel, documents: list[Document], device: Device) -> list[WordArrays]:
    """The batches that the recogniser of a model makes of documents."""
    batches: list[WordArrays] = []
    watched = WatchedModel(model, model.reader, lambda runtime: RecordingRuntime(runtime, batches))
    for _ in Recognizer(watched, device=device, parser="none").annotate(documents):
        pass
    return batches
