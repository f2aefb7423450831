"""How fast one core does a worker's part beside a GPU: preparing texts for the network, decoding and writing results.

    python benchmarks/host.py MODEL TEXTS.jsonl

In sentences per second of CPU time, without any network or GPU: every fifth word counts as an entity. Batches are those
of a GPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from disconer import Document, read
from disconer.formats.native import to_line
from disconer.nn.arrays import WordArrays
from disconer.nn.windows import Found
from disconer.predict.chunks import chunk_documents
from disconer.predict.lazy import collect_rarely
from disconer.predict.recognizer import Recognizer
from disconer.predict.walk import BLOCK_RECORDS

ROUNDS = 5
GPU_BATCHES = {"batch_subwords": 2**18, "batch_cells": 2**23, "batch_overhead": 2**14, "size_multiple": 8}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts", type=Path)
    given = parser.parse_args()
    host(given.model, texts_of(given.texts))


def texts_of(path: Path) -> list[Document]:
    return [Document(document.id, document.text) for document in read(path)]


def host(model: str, texts: Sequence[Document]) -> int:
    """Time a worker's part on one core: prepare, decode, write. Returns the number of sentences.

    In CPU time, so that other programs on the machine hardly matter.
    """
    collect_rarely()
    chunks = list(chunk_documents(texts, BLOCK_RECORDS))
    parts = [host_parts(model, chunks) for _ in range(ROUNDS)]
    n_sentences, n_batches, n_entities = parts[0][:3]
    preparing, reading = (median(part[number] for part in parts) for number in (3, 4))
    told(f"one core prepares ({n_sentences / n_batches:.0f} sentences per batch)", n_sentences, preparing)
    told(f"one core reads and writes ({n_entities / n_sentences:.1f} entities per sentence)", n_sentences, reading)
    told("one core does both", n_sentences, preparing + reading)
    return n_sentences


def host_parts(model: str, chunks: Sequence[list[Document]]) -> tuple[int, int, int, float, float]:
    """Sentences, batches, entities; seconds of preparing, and of reading and writing.

    Nothing is kept, and the words of no round are known from the one before.
    """
    recognizer = Recognizer.from_pretrained(model, device="cpu", runtime="onnx")
    runtime: Any = NoNetwork(recognizer.model.labels)
    recognizer._runtime = recognizer._chunker._runtime = runtime
    recognizer._prepare(chunks[0][:10])  # tables that are made once
    n_sentences = n_batches = n_entities = 0
    preparing = reading = 0.0
    scale, wanted = recognizer.model.scale, recognizer._wanted(None, None)
    for documents in chunks:
        chunk, seconds = timed(partial(recognizer._prepare, documents), time.process_time)
        preparing += seconds
        chunk.found.extend(recognizer._runtime.find(chunk.batches))
        written, seconds = timed(
            lambda chunk=chunk: b"".join(map(to_line, chunk.annotated(scale, wanted))), time.process_time
        )
        reading += seconds
        n_sentences += sum(len(document.sentences or ()) for document in chunk.documents)
        n_batches += len(chunk.plan)
        n_entities += written.count(b'"label"')
    return n_sentences, n_batches, n_entities, preparing, reading


class NoNetwork:
    """Finds about as many entities as a network would: every fifth word. Batches are those of a GPU."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = labels
        for name, value in GPU_BATCHES.items():
            setattr(self, name, value)

    def find(self, batches: Sequence[WordArrays]) -> Iterator[list[list[Found]]]:
        for batch in batches:
            yield [[self._entity(word) for word in range(0, n_words, 5)] for n_words in batch.lengths.tolist()]

    def _entity(self, word: int) -> Found:
        return Found(self._labels[word % len(self._labels)], ((word, word + 1),), 0.9)


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[Any, float]:
    started = clock()
    return work(), clock() - started


def told(what: str, n_sentences: int, seconds: float) -> None:
    print(f"{what:58} {n_sentences / seconds:9,.0f} sentences/s  ({seconds:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
