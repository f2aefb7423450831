"""The speed of reading brat, and the memory of streaming.

    python benchmarks/reading.py speed ../shared/data/chia/chia_without_scope.zip [--repeats 9] [--json]
    python benchmarks/reading.py memory [--size 1e9] [--verbs convert stats] [--json]

speed: text and annotation bytes per second on one core, from the .zip and from its unpacked folder.
memory: the peak resident memory of `disconer convert` and `disconer stats` on JSONL of a tenth, a half and all of
    a size, made of random documents with sentences. It should be constant except for the ids seen so far, 16 to 32
    bytes each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from disconer import Document, Entity, read
from disconer.formats.native import to_record
from disconer.text import segment

MEGABYTE = 10**6
PARTS = (0.1, 0.5, 1.0)  # of the size that is asked for
SAMPLE = 300  # random documents, which are repeated under new ids
MODULE = [sys.executable, "-c", "from disconer.cli import main; main()"]


@dataclass
class Speed:
    """Megabytes per second of CPU time: best and median of the repeats."""

    source: str
    megabytes: float
    best: float
    middle: float

    def __str__(self) -> str:
        return f"{self.source}: {self.best:.1f} MB/s at best, median {self.middle:.1f}, of {self.megabytes:.2f} MB"


@dataclass
class Memory:
    """The peak resident memory of one run."""

    verb: str
    megabytes: float
    peak: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.verb} of {self.megabytes:.0f} MB: peak {self.peak:.1f} MB in {self.seconds:.0f} s"


def speed(archive: Path, repeats: int) -> list[Speed]:
    with TemporaryDirectory() as folder, zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
        n_bytes = sum(info.file_size for info in packed.infolist() if info.filename.endswith((".txt", ".ann")))
        return [
            _speed("zip", archive, n_bytes / MEGABYTE, repeats),
            _speed("folder", Path(folder), n_bytes / MEGABYTE, repeats),
        ]


def _speed(name: str, source: Path, megabytes: float, repeats: int) -> Speed:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _document in read(source, "brat"):
            pass
        times.append(time.process_time() - start)
    return Speed(name, megabytes, megabytes / min(times), megabytes / median(times))


def memory(size: float, verbs: list[str]) -> list[Memory]:
    runs = []
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        commands = {"convert": [*MODULE, "convert", source, target, "--force"], "stats": [*MODULE, "stats", source]}
        for part in PARTS:
            write_jsonl(source, int(part * size))
            for verb in verbs:
                runs.append(_run(verb, commands[verb], source.stat().st_size / MEGABYTE))
                print(runs[-1], file=sys.stderr)
    return runs


def _run(verb: str, command: list[str | Path], megabytes: float) -> Memory:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"disconer {verb} failed")
    return Memory(verb, megabytes, usage.ru_maxrss * 1024 / MEGABYTE, time.perf_counter() - start)


def write_jsonl(path: Path, size: int) -> None:
    """Random documents up to `size` bytes."""
    rng = random.Random(0)
    # Everything of a record but its id, which comes first.
    tails = [json.dumps(to_record(random_document(rng)))[len('{"id": ""') :] for _ in range(SAMPLE)]
    written = number = 0
    with path.open("w") as stream:
        while written < size:
            written += stream.write(f'{{"id": "doc{number}"{tails[number % SAMPLE]}\n')
            number += 1


def random_document(rng: random.Random) -> Document:
    """Some lines of random words, every tenth of them an entity, one in ten of these discontinuous."""
    lines = [
        " ".join("".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(rng.randint(5, 25)))
        for _ in range(rng.randint(2, 12))
    ]
    document = segment(Document("random", "\n".join(lines)))
    entities = []
    for sentence in document.sentences or ():
        for first, second in zip(sentence.tokens, sentence.tokens[2:], strict=False):
            if rng.random() < 0.1:
                fragments = (first, second) if rng.random() < 0.1 else (first,)
                entities.append(Entity(rng.choice(["ADR", "Drug", "Finding"]), fragments, f"T{len(entities) + 1}"))
    return document.replace(entities=tuple(entities))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    of_speed = what.add_parser("speed")
    of_speed.add_argument("archive", type=Path)
    of_speed.add_argument("--repeats", type=int, default=9)
    of_memory = what.add_parser("memory")
    of_memory.add_argument("--size", type=float, default=1e9, help="bytes of JSONL")
    of_memory.add_argument("--verbs", nargs="+", choices=["convert", "stats"], default=["convert", "stats"])
    for part in (of_speed, of_memory):
        part.add_argument("--json", action="store_true")
    given = parser.parse_args()
    runs: list[Speed] | list[Memory]
    runs = speed(given.archive, given.repeats) if given.what == "speed" else memory(given.size, given.verbs)
    print(json.dumps([asdict(run) for run in runs], indent=2) if given.json else "\n".join(map(str, runs)))


if __name__ == "__main__":
    main()
