"""Time by stage: the same components one after another, timed separately."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import partial

from disconer.bench.laps import (
    ASSEMBLE,
    DECODE,
    NETWORK,
    PARSE,
    SPLIT,
    WORDS,
    Laps,
    TimedReader,
    TimedRuntime,
    WatchedModel,
    watch_network,
)
from disconer.bench.sample import Sample
from disconer.bench.timing import Clock, Jobs, Ratio, Timing, in_turns
from disconer.core.types import Document
from disconer.nn.runtime import AnyModel, Device, Precision
from disconer.predict.chunks import CHARACTERS_AHEAD, DOCUMENTS_AHEAD
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model
from disconer.text import SPLITTERS, TOKENIZERS
from disconer.text.sentences import ordered_sentence
from disconer.text.syntax.attach import Account, Syntax
from disconer.text.syntax.spec import model_syntax


class Staged:
    """The recogniser of a model taken apart."""

    def __init__(
        self, model: AnyModel, laps: Laps, *, given: bool, device: Device = None, precision: Precision = "fp32"
    ) -> None:
        data, syntax = model.config.data, model.config.syntax
        self._split, self._words = SPLITTERS[data.splitter], TOKENIZERS[data.tokenizer]
        self._syntax: Syntax | None = None
        if syntax.needed:
            self._syntax = model_syntax(syntax.parser, missing=syntax.missing, cache=False)
        self._laps, self._given = laps, given
        if isinstance(model, Model):
            model = replace(model, network=deepcopy(model.network))
            watch_network(model.network, laps)
            last_stage = DECODE
        else:
            last_stage = NETWORK
        watched = WatchedModel(
            model, TimedReader(model.reader, laps), lambda runtime: TimedRuntime(runtime, laps, last_stage)
        )
        self._recognizer = Recognizer(watched, device=device, precision=precision, parser="none")

    def run(self, documents: list[Document]) -> None:
        """All stages for all documents."""
        self._laps.begin()
        for chunk in chunks(documents):
            segmented = chunk if self._given else [self._segment(document) for document in chunk]
            if self._syntax is not None:
                segmented = self._syntax(segmented, Account())
                self._laps.passed(PARSE)
            for _ in self._recognizer.annotate(segmented):
                pass
            self._laps.passed(ASSEMBLE)

    def _segment(self, document: Document) -> Document:
        """As `text.segment` does it."""
        text = document.text
        stretches = self._split(text)
        self._laps.passed(SPLIT)
        sentences = tuple([ordered_sentence(start, end, self._words(text, start, end)) for start, end in stretches])
        segmented = document.replace(sentences=sentences)
        self._laps.passed(WORDS)
        return segmented


def chunks(documents: list[Document]) -> Iterator[list[Document]]:
    """What the recogniser processes together. Given one at a time, it prepares nothing while its network runs."""
    chunk: list[Document] = []
    for document in documents:
        chunk.append(document)
        if len(chunk) == DOCUMENTS_AHEAD or sum(len(one.text) for one in chunk) >= CHARACTERS_AHEAD:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds by stage for a whole sample.

    seconds: of each stage, the median of rounds.
    staged: all stages together, timed separately.
    unpipelined: the recogniser itself, kept from preparing the next documents while its network runs.
    """

    seconds: dict[str, float]
    staged: Timing
    unpipelined: Timing

    @property
    def sum(self) -> float:
        return sum(self.seconds.values())

    def to_dict(self) -> dict[str, object]:
        return {
            "seconds": self.seconds,
            "sum": self.sum,
            "staged": self.staged.to_dict(),
            "unpipelined": self.unpipelined.to_dict(),
            "ratio": asdict(Ratio.of(self.staged, self.unpipelined)),
        }


def measure_stages(
    recognizer: Recognizer, sample: Sample, *, precision: Precision, repeats: int, clock: Clock
) -> Stages:
    """Each stage by itself, in turns with the recogniser as it is."""
    laps = Laps(clock)
    staged = Staged(recognizer.model, laps, given=sample.given, device=recognizer.device, precision=precision)

    def unpipelined() -> None:
        for chunk in chunks(sample.documents):
            for _ in recognizer.annotate(chunk):
                pass

    jobs: Jobs = {"staged": [partial(staged.run, sample.documents)], "unpipelined": [unpipelined]}
    timings = in_turns(jobs, repeats=repeats, clock=clock)
    return Stages(laps.medians(repeats), **timings)
