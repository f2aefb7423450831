"""The speed of everything around a model: what becomes the bottleneck when the model is fast?

    python benchmarks/bottlenecks.py DOCUMENTS --model MODEL [--model MODEL …] [--megabytes 20] [--json]

DOCUMENTS: annotated documents of any format, repeated under new ids until their text has the given size.

Reading and writing are measured in CPU time of one core, in words and megabytes of text per second. Loading a model is
measured in a separate process that loads it and predicts one short text, in CPU and wall time. Files are in the
system's cache, so disk speed is not included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from disconer import Document, read, write
from disconer.formats.native import to_record
from disconer.text import segment

MEGABYTE = 10**6
LOADING = "from disconer import Recognizer; Recognizer.from_pretrained({!r})('Severe renal insufficiency.')"


@dataclass(frozen=True)
class Texts:
    documents: list[Document]
    n_words: int
    megabytes: float


@dataclass(frozen=True)
class Speed:
    """The throughput of one core."""

    what: str
    words: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.what:<34} {self.words:>12,.0f} words/s  {self.megabytes:>7.1f} MB of text/s"


@dataclass(frozen=True)
class Loading:
    model: str
    cpu_seconds: float
    seconds: float

    def __str__(self) -> str:
        return f"load {self.model}: {self.cpu_seconds:.1f} s CPU time, {self.seconds:.1f} s wall time"


def repeated(source: Path, megabytes: float) -> Texts:
    """Documents without sentences, as input, and with entities, as output."""
    originals = list(read(source))
    words = [sum(len(sentence.tokens) for sentence in segment(document).sentences or ()) for document in originals]
    documents: list[Document] = []
    n_words, n_bytes = 0, 0
    for number in count():
        if n_bytes >= megabytes * MEGABYTE:
            return Texts(documents, n_words, n_bytes / MEGABYTE)
        original = originals[number % len(originals)]
        documents.append(Document(f"{original.id}-{number}", original.text, original.entities))
        n_words += words[number % len(words)]
        n_bytes += len(original.text.encode())
    raise AssertionError  # unreachable: the loop is endless


def speeds(texts: Texts, folder: Path) -> Iterator[Speed]:
    bare = [Document(document.id, document.text) for document in texts.documents]
    notes, table = folder / "notes.jsonl", folder / "notes.parquet"
    write(bare, notes)
    yield _speed("write JSONL, with entities", texts, lambda: write(texts.documents, folder / "found.jsonl"))
    yield _speed(
        "write Parquet, with entities", texts, lambda: write_parquet(texts.documents, folder / "found.parquet")
    )
    pq.write_table(pa.table({"id": [d.id for d in bare], "text": [d.text for d in bare]}), table)
    yield _speed("read JSONL", texts, lambda: sum(1 for _ in read(notes)))
    yield _speed("read Parquet", texts, lambda: sum(1 for _ in read_parquet(table)))
    yield _speed("split into sentences and words", texts, lambda: sum(1 for _ in map(segment, bare)))


def write_parquet(documents: list[Document], path: Path) -> None:
    found = [to_record(document)["entities"] for document in documents]
    pq.write_table(pa.table({"id": [document.id for document in documents], "entities": found}), path)


def read_parquet(path: Path) -> Iterator[Document]:
    for batch in pq.ParquetFile(path).iter_batches(columns=["id", "text"]):
        for id, text in zip(batch["id"].to_pylist(), batch["text"].to_pylist(), strict=True):
            yield Document(id, text)


def _speed(what: str, texts: Texts, work: Callable[[], object]) -> Speed:
    started = time.process_time()
    work()
    seconds = time.process_time() - started
    return Speed(what, texts.n_words / seconds, texts.megabytes / seconds)


def loading(model: str) -> Loading:
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", LOADING.format(model)])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{model} cannot be loaded")
    return Loading(model, usage.ru_utime + usage.ru_stime, time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--model", action="append", default=[], dest="models")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    texts = repeated(given.documents, given.megabytes)
    with TemporaryDirectory() as folder:
        found = [*speeds(texts, Path(folder)), *map(loading, given.models)]
    print(json.dumps([asdict(one) for one in found], indent=2) if given.json else "\n".join(map(str, found)))


if __name__ == "__main__":
    main()
