"""The cost of predicting a million notes, or all of PubMed.

    disconer bench --model MODEL --data SRC --threads 1 --clock cpu --only throughput --json > core.json
    python benchmarks/cost.py --core "int8=core.json" --gpu "H200=121600" [--collection "notes=1000000x500"]

--core, --gpu: NAME=SPEED, where SPEED is the output of `disconer bench --json`, or a number of words per second.
--collection: NAME=DOCUMENTSxWORDS, the number of documents and words per document; repeatable.

Time is words divided by words per second: hours of one core, or of one GPU with its CPU cores.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

HOUR = 3600
CLUSTER = {"core": 64, "GPU": 8}  # of each kind, for the wall time
COLLECTIONS = ("a million notes=1000000x500", "all of PubMed=37000000x265")


@dataclass(frozen=True)
class Collection:
    name: str
    documents: int
    words_a_document: float

    @classmethod
    def parse(cls, text: str) -> Collection:
        name, _, size = text.rpartition("=")
        documents, _, words = size.partition("x")
        return cls(name, int(documents), float(words))

    @property
    def words(self) -> float:
        return self.documents * self.words_a_document


@dataclass(frozen=True)
class Worker:
    """A core, or a GPU."""

    name: str
    kind: str
    words_a_second: float

    @classmethod
    def parse(cls, text: str, kind: str) -> Worker:
        name, _, speed = text.rpartition("=")
        return cls(name, kind, benched(Path(speed)) if speed.endswith(".json") else float(speed))

    def hours(self, collection: Collection) -> float:
        return collection.words / self.words_a_second / HOUR


def benched(path: Path) -> float:
    """Words per second from text to entities, of a bench on one thread."""
    bench = json.loads(path.read_text("utf-8"))
    if bench["environment"]["threads"] != 1:
        raise SystemExit(f"{path}: a core's speed is that of one thread; bench with --threads 1")
    return float(bench["sample"]["words"] / bench["throughput"]["end_to_end"]["median"])


def table(collections: list[Collection], workers: list[Worker]) -> str:
    lines = ["| | words | by | words/s | costs | takes |", "|---|---|---|---|---|---|"]
    for collection in collections:
        for worker in workers:
            hours, many = worker.hours(collection), CLUSTER[worker.kind]
            lines.append(
                f"| {collection.name} | {collection.words:,.0f} | {worker.name} | {worker.words_a_second:,.0f} | "
                f"{hours:,.1f} {worker.kind}-hours | {hours / many:,.1f} hours on {many} {worker.kind}s |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", action="append", default=[], metavar="NAME=SPEED")
    parser.add_argument("--gpu", action="append", default=[], metavar="NAME=SPEED")
    parser.add_argument("--collection", action="append", metavar="NAME=DOCUMENTSxWORDS")
    given = parser.parse_args()
    workers = [Worker.parse(text, "core") for text in given.core] + [Worker.parse(text, "GPU") for text in given.gpu]
    print(table([Collection.parse(text) for text in given.collection or COLLECTIONS], workers))


if __name__ == "__main__":
    main()
