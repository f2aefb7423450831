"""Prediction against the bare encoder: many sentences at once, and one text at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Protocol

from disconer.bench.laps import batches_of
from disconer.bench.sample import Sample, sorted_batches
from disconer.bench.timing import Clock, Job, Jobs, Ratio, Timing, in_turns
from disconer.core.types import Document
from disconer.nn.arrays import WordArrays, word_arrays
from disconer.nn.windows import Windower
from disconer.predict.recognizer import Recognizer

SINGLE_SENTENCES = 100  # of a sample, for the time of one by itself


class Encoder(Protocol):
    """A bare encoder: see `sample.BareEncoder` and `onnx_encoder.OnnxEncoder`."""

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
    """Find all entities of a sample, as users do; gives how many there are."""
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
