"""How cost scales with the number and length of sentences, with plots for the docs.

    OMP_NUM_THREADS=2 python benchmarks/growth.py --model models/chia-1 --data data/chia/dev.jsonl --out docs/pictures

Sentences are real: the documents of --data, repeated, and for lengths, their words concatenated and cut to size.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import torch

from disconer import Document, Recognizer, Sentence, read
from disconer.bench.measurements import environment, peak_memory
from disconer.bench.timing import Clock, in_turns, make_clock
from disconer.render.report.plots import Axis, Dot, Series, picture
from disconer.text import segment

SEED = 1
SIZES = [1_000, 10_000, 100_000]  # sentences
LENGTHS = [10, 25, 50, 100, 200, 400]  # tokens of a sentence
TOKENS = 4_000  # for each length
REPEATS = 3
MARGIN = 1.4  # room for the last label of an axis


@dataclass(frozen=True)
class Size:
    """The number of sentences in one stream, the speed, and the peak resident memory."""

    sentences: int
    per_second: float
    megabytes: float | None


@dataclass(frozen=True)
class Length:
    """The number of tokens per sentence, and the time per token: median, minimum and maximum over rounds."""

    tokens: int
    microseconds: float
    low: float
    high: float


def by_size(recognizer: Recognizer, documents: list[Document], sizes: list[int], clock: Clock) -> list[Size]:
    """The stream of each size; the smallest is run once before, to warm up.

    Documents are shuffled, as the first thousand sentences of a corpus may be longer than the rest.
    """
    shuffled = random.Random(SEED).sample(documents, len(documents))
    return [_size(recognizer, shuffled, size, clock) for size in (sizes[0], *sizes)][1:]


def _size(recognizer: Recognizer, documents: list[Document], n_sentences: int, clock: Clock) -> Size:
    seen = 0

    def run() -> None:
        nonlocal seen
        for found in recognizer.pipe(_texts(documents, n_sentences)):
            seen += len(found.sentences or ())

    started = clock()
    memory = peak_memory(run, torch.device(recognizer.device))
    measured = Size(seen, seen / (clock() - started), memory.process)
    print(measured, file=sys.stderr)
    return measured


def _texts(documents: list[Document], n_sentences: int) -> Iterator[str]:
    """Texts, repeated until they have the given number of sentences."""
    for document in cycle(documents):
        if n_sentences <= 0:
            return
        n_sentences -= len(document.sentences or ())
        yield document.text


def by_length(recognizer: Recognizer, documents: list[Document], lengths: list[int], clock: Clock) -> list[Length]:
    """Time per token in sentences of each length, alternating between lengths."""
    words = [
        document.text[start:end]
        for document in documents
        for sentence in document.sentences or ()
        for start, end in sentence.tokens
    ]
    jobs = {}
    for length in lengths:
        stream = cycle(words)
        sentences = [_sentence(list(islice(stream, length))) for _ in range(-(-TOKENS // length))]
        jobs[str(length)] = [partial(_annotate, recognizer, sentences)]
    timings = in_turns(jobs, repeats=REPEATS, clock=clock)
    measured = []
    for length in lengths:
        timing, n_tokens = timings[str(length)], length * -(-TOKENS // length)
        rounds = [1e6 * seconds / n_tokens for seconds in timing.seconds]
        measured.append(Length(length, 1e6 * timing.median / n_tokens, min(rounds), max(rounds)))
    return measured


def _sentence(words: list[str]) -> Document:
    tokens, position = [], 0
    for word in words:
        tokens.append((position, position + len(word)))
        position += len(word) + 1
    text = " ".join(words)
    return Document("a", text, sentences=(Sentence(0, len(text), tuple(tokens)),))


def _annotate(recognizer: Recognizer, documents: list[Document]) -> None:
    for _ in recognizer.annotate(documents):
        pass


def size_plot(sizes: list[Size]) -> str:
    points = [(float(size.sentences), size.per_second) for size in sizes]
    dots = [Dot(x, y, f"{x:,.0f} sentences: {y:.1f} per second") for x, y in points]
    rounded = [float(f"{size.sentences:.1g}") for size in sizes]
    x = Axis("sentences in one stream", rounded[0], MARGIN * rounded[-1], rounded, log=True)
    y = _axis("sentences per second", max(speed for _, speed in points))
    return picture("Speed by input size", x, y, [Series("text to entities", points, dots)])


def length_plot(lengths: list[Length]) -> str:
    points = [(float(length.tokens), length.microseconds) for length in lengths]
    dots = [Dot(x, y, f"{x:.0f} tokens: {y:.0f} µs per token") for x, y in points]
    x = Axis("tokens per sentence", points[0][0], MARGIN * points[-1][0], [place for place, _ in points], log=True)
    y = _axis("µs per token", max(cost for _, cost in points))
    return picture("Cost per token by sentence length", x, y, [Series("text to entities", points, dots)])


def _axis(name: str, highest: float) -> Axis:
    """From 0 to a round number above the highest: a plot that starts elsewhere makes noise look like growth."""
    step = next(step for power in range(6) for factor in (1, 2, 5) if 5 * (step := factor * 10**power) >= highest)
    return Axis(name, 0.0, 5.0 * step, [float(number * step) for number in range(6)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--device")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="sentences")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="tokens per sentence")
    parser.add_argument("--out", type=Path, required=True, help="folder for growth.json and the two plots")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"])
    arguments = parser.parse_args()
    clock = make_clock(arguments.clock)
    recognizer = Recognizer.from_pretrained(arguments.model, device=arguments.device)
    documents = [segment(document) for document in read(arguments.data)]
    sizes = by_size(recognizer, documents, arguments.sizes, clock)
    lengths = by_length(recognizer, documents, arguments.lengths, clock)
    arguments.out.mkdir(parents=True, exist_ok=True)
    figures = {
        "environment": environment(torch.device(recognizer.device)),
        "sizes": [asdict(size) for size in sizes],
        "lengths": [asdict(length) for length in lengths],
    }
    (arguments.out / "growth.json").write_text(json.dumps(figures, indent=1) + "\n")
    (arguments.out / "speed-by-size.svg").write_text(size_plot(sizes), "utf-8")
    (arguments.out / "cost-by-length.svg").write_text(length_plot(lengths), "utf-8")


if __name__ == "__main__":
    main()
