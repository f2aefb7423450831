"""The speed of prediction on Ray with one actor and with two, and whether memory stays constant.

    python benchmarks/on_ray.py speed --model models/chia-int8 --data data/chia/dev.jsonl
    python benchmarks/on_ray.py memory --model models/chia-int8 --data data/chia/dev.jsonl --sentences 200000

Sentences are real, those of --data repeated, one per document. `speed` alternates between one actor and two, one
thread each, and measures from the block after which all of them are working; starting Ray and loading models is
reported separately. The limit: two actors are at least 1.7 times as fast as one. It needs two idle cores.

`memory` prints unshared resident memory over time, by kind of process. The limit: the peak of the second half of the
run is at most a tenth above the peak of the first half.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from threading import Event, Thread

import psutil

from disconer import read
from disconer.core.ledger import Ledger
from disconer.formats.source import Source
from disconer.predict.inputs import units
from disconer.predict.ray import stream
from disconer.predict.ray.blocks import Block
from disconer.predict.ray.cluster import joined
from disconer.predict.ray.plan import HERE, Cluster
from disconer.predict.ray.work import RayWork
from disconer.predict.settings import Settings
from disconer.predict.walk import BLOCK_RECORDS
from disconer.text import SPLITTERS

WARM_UP = 4  # blocks, after which both actors have loaded their models
EVERY = 5.0  # seconds between memory samples
FASTER, FLATTER = 1.7, 1.1
MB = 2**20
KINDS = {"ray::MapWorker": "actors", "ray::Read": "reader"}


@dataclass
class Times:
    """When blocks came back, in seconds from the start, and how many documents each had."""

    seconds: list[float] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Documents per second once all actors are working."""
        return sum(self.documents[WARM_UP:]) / (self.seconds[-1] - self.seconds[WARM_UP - 1])


def write_sentences(data: Path, out: Path, n: int) -> None:
    split = SPLITTERS["rules"]
    sentences = [document.text[start:end] for document in read(data) for start, end in split(document.text)]
    with open(out, "w") as stream:
        for number, sentence in enumerate(islice(cycle(sentences), n)):
            stream.write(json.dumps({"id": f"s{number}", "text": sentence}) + "\n")


def run(source: Path, model: str, actors: int) -> Times:
    """Predict everything into a temporary folder."""
    times, original = Times(), stream.stream_blocks
    started = time.perf_counter()

    def timed(*arguments: object, **options: object) -> Iterator[Block]:
        for block in original(*arguments, **options):  # type: ignore[arg-type]
            times.seconds.append(time.perf_counter() - started)
            times.documents.append(len(block.ids))
            yield block

    stream.stream_blocks = timed  # type: ignore[assignment]
    try:
        inputs = list(units(Source(source), "jsonl"))
        work = RayWork([(str(source), "jsonl")], inputs, Settings(model), Ledger(), to="jsonl")
        with tempfile.TemporaryDirectory() as folder:
            work.into(f"{folder}/out", Cluster(HERE, actors))
    finally:
        stream.stream_blocks = original
    return times


def speed(source: Path, model: str, rounds: int) -> bool:
    found: dict[int, list[float]] = {1: [], 2: []}
    with joined(HERE, 2, 0):
        for number in range(1, rounds + 1):
            for actors, speeds in found.items():
                times = run(source, model, actors)
                speeds.append(times.per_second)
                print(
                    f"round {number}, {actors} actor{'s' if actors > 1 else ''}: {times.per_second:7.1f} sentences per "
                    f"second, first block after {times.seconds[0]:.1f} s, all after {times.seconds[-1]:.1f} s",
                    flush=True,
                )
    ratio = statistics.median(found[2]) / statistics.median(found[1])
    print(f"two actors are {ratio:.2f} times as fast as one (at least {FASTER} wanted)")
    return ratio >= FASTER


def resident() -> Counter[str]:
    """MB of this process and of all that it has started, by kind."""
    found: Counter[str] = Counter()
    here = psutil.Process()
    for process in [here, *here.children(recursive=True)]:
        try:
            kind = next((kind for start, kind in KINDS.items() if process.name().startswith(start)), "Ray itself")
            found["driver" if process is here else kind] += round(process.memory_full_info().uss / MB)
        except psutil.Error:  # it has ended
            continue
    return found


@contextmanager
def watched(samples: list[tuple[float, Counter[str]]]) -> Iterator[None]:
    started, done = time.perf_counter(), Event()

    def look() -> None:
        while not done.wait(EVERY):
            samples.append((time.perf_counter() - started, resident()))
            seconds, found = samples[-1]
            listed = ", ".join(f"{kind} {found[kind]}" for kind in ("driver", "reader", "actors", "Ray itself"))
            print(f"{seconds:6.0f} s: {found.total():5} MB ({listed})", flush=True)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def memory(source: Path, model: str, actors: int) -> bool:
    samples: list[tuple[float, Counter[str]]] = []
    with watched(samples):
        times = run(source, model, actors)
    print(f"{sum(times.documents)} sentences, {times.per_second:.1f} per second, {times.seconds[-1]:.0f} s in total")
    at_work = [found.total() for seconds, found in samples if times.seconds[WARM_UP] < seconds < times.seconds[-1]]
    middle = len(at_work) // 2
    first, second = max(at_work[:middle]), max(at_work[middle:])
    print(
        f"most in the first half {first} MB, in the second {second} MB: {second / first:.3f} (at most {FLATTER} wanted)"
    )
    return second <= FLATTER * first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "memory"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True, help="documents whose sentences are taken")
    parser.add_argument("--sentences", type=int, default=30 * BLOCK_RECORDS)
    parser.add_argument("--rounds", type=int, default=3, help="of `speed`")
    parser.add_argument("--actors", type=int, default=2, help="of `memory`")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "sentences.jsonl")
        write_sentences(given.data, source, given.sentences)
        held = (
            speed(source, given.model, given.rounds)
            if given.what == "speed"
            else memory(source, given.model, given.actors)
        )
    raise SystemExit(0 if held else 1)


if __name__ == "__main__":
    main()
