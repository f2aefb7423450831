"""From documents to windows, and from windows to batches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from disconer.config import Config
from disconer.core.types import Document
from disconer.nn.reader import Reader
from disconer.nn.windows import NO_LIMIT, Window, passages, windows
from disconer.text import SPLITTERS, TOKENIZERS, segment

POOL = 50  # batches' worth of windows that are sorted by length together, so that batches stay random


class Windower:
    """Cuts documents into windows, as a model was configured to.

    context: pieces of a passage; 0 where each window is read by itself.
    """

    def __init__(self, config: Config, reader: Reader, max_pieces: int | None) -> None:
        data = config.data
        self._segment: Callable[[Document], Document] = partial(
            segment, splitter=SPLITTERS[data.splitter], tokenizer=TOKENIZERS[data.tokenizer]
        )
        self._reader = reader
        self._max_pieces = (max_pieces or NO_LIMIT) - len(reader.prefix) - len(reader.suffix)
        wanted = config.encoder.context if config.encoder.kind == "transformer" else 0  # others read word by word
        self.context = min(wanted, self._max_pieces)

    def segment(self, document: Document) -> Document:
        return self._segment(document)

    def windows(self, document: Document) -> list[list[Window]]:
        """The windows of each sentence of a segmented document."""
        sentences = document.sentences or ()
        pieces = self._reader(document.text, sentences)
        return [
            windows(sentence, own, max_pieces=self._max_pieces) for sentence, own in zip(sentences, pieces, strict=True)
        ]

    def passages(self, document: Document) -> list[list[Window]]:
        """All windows of a segmented document, those together that are read together."""
        found = [window for own in self.windows(document) for window in own]
        sizes = [len(window.pieces.ids) for window in found]
        return [[found[number] for number in passage] for passage in passages(sizes, self.context)]


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Positions grouped so that longest * count <= batch_tokens; neighbours in length share a batch."""
    batches: list[list[int]] = []
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[position] * (len(batch) + 1) > batch_tokens:
            batches.append(batch)
            batch = []
        batch.append(position)
    return [*batches, batch] if batch else batches


def cheapest_batches(lengths: Sequence[int], batch_tokens: int, overhead: int) -> list[list[int]]:
    """Positions grouped so that longest * count <= batch_tokens, and all batches together cost least.

    A batch costs longest * count, padding included, and `overhead` for being one. Sorted by length, the best cut
    before each place is known once it is for all places before.
    """
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
    sizes = np.asarray(lengths, dtype=np.int64)[order]
    cost = np.zeros(len(order) + 1, dtype=np.int64)  # of the first so many
    start = np.zeros(len(order) + 1, dtype=np.int64)  # of the batch that ends there
    for end in range(1, len(order) + 1):
        longest = int(sizes[end - 1])
        first = max(0, end - max(1, batch_tokens // max(1, longest)))
        costs = cost[first:end] + longest * np.arange(end - first, 0, -1)
        best = int(costs.argmin())
        cost[end], start[end] = costs[best] + overhead, first + best
    batches, end = [], len(order)
    while end:
        batches.append(order[start[end] : end].tolist())
        end = int(start[end])
    return batches[::-1]


def shuffled_batches(lengths: Sequence[int], batch_tokens: int, seed: int) -> list[list[int]]:
    """Like `batches_by_length`, but random within pools, and in random order: an epoch's plan."""
    chance = random.Random(seed)
    order = list(range(len(lengths)))
    chance.shuffle(order)
    plan: list[list[int]] = []
    for pool in _pools(order, lengths, POOL * batch_tokens):
        plan += [[pool[i] for i in batch] for batch in batches_by_length([lengths[p] for p in pool], batch_tokens)]
    chance.shuffle(plan)
    return plan


def _pools(order: list[int], lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    pool: list[int] = []
    filled = 0
    for position in order:
        pool.append(position)
        filled += lengths[position]
        if filled >= size:
            yield pool
            pool, filled = [], 0
    if pool:
        yield pool
