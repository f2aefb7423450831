"""From documents to windows (words whose entities are found together), and from windows to batches.

A passage is a group of windows that the encoder reads together, so that each has its context.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disconer.config import Config
from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.reader import Bools, Reader, Subwords, Text, TextsReader
from disconer.text import SplitterName, segmenter
from disconer.text.alignment import Range, TokenEntity, words_of

MAX_WORDS = 512  # bounds what is quadratic in sentence length: syntax, pairs of fragments
NO_LIMIT = 2**31
OVERLAP = 0.25  # fraction of a window that it has in common with the next


@dataclass(frozen=True, slots=True)
class Window:
    """Words [start, end) of a sentence, and their subwords.

    own: the words [own[0], own[1]) whose entities are read from this window, where windows overlap. An entity
        belongs to the window that owns its first word.
    """

    sentence: Sentence
    start: int
    end: int
    own: tuple[int, int]
    subwords: Subwords

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def heads(self) -> tuple[int, ...] | None:
        """Heads by position in the window; -1 where the head is the root or lies outside."""
        heads = self.sentence.heads
        if heads is None:
            return None
        return tuple(
            head - self.start if self.start <= head < self.end else -1 for head in heads[self.start : self.end]
        )

    def owns(self, position: int) -> bool:
        """Whether the word at a position in the window is one of those whose entities are read from here."""
        return self.own[0] <= self.start + position < self.own[1]

    def holds(self, entity: TokenEntity) -> bool:
        """Whether an entity of the sentence lies completely in the window."""
        return self.start <= entity.ranges[0][0] and entity.ranges[-1][1] <= self.end

    def within(self, entities: list[TokenEntity]) -> list[TokenEntity]:
        """The entities that lie completely in the window, by position in it."""
        return [
            TokenEntity(entity.label, tuple((a - self.start, b - self.start) for a, b in entity.ranges), entity.entity)
            for entity in entities
            if self.holds(entity)
        ]

    def taught(self, entities: list[TokenEntity]) -> Bools:
        """The words that a head learns from this window, if it decides word by word.  Shape: (words,)

        Its own words, and all words of entities that start there; but not those of entities that it cuts, for which no
        decision here would be right.
        """
        taught = np.array([self.owns(word) for word in range(len(self))], dtype=bool)
        for entity in (one for one in entities if not self.holds(one)):
            words = np.array(words_of(entity.ranges)) - self.start
            taught[words[(words >= 0) & (words < len(self))]] = False
        for entity in self.within(entities):
            if self.owns(entity.ranges[0][0]):
                taught[words_of(entity.ranges)] = True
        return taught


def windows(sentence: Sentence, subwords: Subwords, *, max_subwords: int, max_words: int = MAX_WORDS) -> list[Window]:
    """Cover a sentence by overlapping windows of at most `max_subwords` subwords and `max_words` words each."""
    n_words = len(sentence.tokens)
    if n_words <= max_words and len(subwords.ids) <= max_subwords:
        return [Window(sentence, 0, n_words, (0, n_words), subwords)] if n_words else []
    stretches = list(_stretches(subwords, n_words, max_subwords, max_words))
    found = []
    for number, (start, end) in enumerate(stretches):
        left = 0 if number == 0 else (start + stretches[number - 1][1]) // 2
        right = n_words if number + 1 == len(stretches) else (stretches[number + 1][0] + end) // 2
        found.append(Window(sentence, start, end, (left, right), _cut(subwords, start, end, max_subwords)))
    return found


LONGEST = 16  # subwords of a word; only the first few say something of a sequence or of a divider


def shortened(subwords: Subwords) -> Subwords:
    """Without what words have beyond `LONGEST` subwords: a divider of a hundred dashes would fill the context."""
    too_long = subwords.end - subwords.first > LONGEST
    if not too_long.any():
        return subwords
    is_kept = np.ones(len(subwords.ids), bool)
    for first, end in zip(subwords.first[too_long], subwords.end[too_long], strict=True):
        is_kept[first + LONGEST : end] = False
    for first, end in zip(subwords.first[~too_long], subwords.end[~too_long], strict=True):
        is_kept[first:end] = True  # a subword may reach into the next word
    before = np.concatenate([[0], np.cumsum(is_kept)])
    return Subwords(subwords.ids[is_kept], before[subwords.first], before[subwords.end])


def passages(sizes: Sequence[int], most: int) -> list[range]:
    """Cut a document's windows into passages of at most `most` subwords: as few as possible, of similar size.

    sizes: subwords of each window. One that has more than `most` is a passage by itself.
    """
    wanted = sum(sizes) / max(1, -(-sum(sizes) // max(1, most)))
    cut: list[range] = []
    first = filled = 0
    for number, size in enumerate(sizes):
        if number > first and (filled >= wanted or filled + size > most):
            cut.append(range(first, number))
            first, filled = number, 0
        filled += size
    return [*cut, range(first, len(sizes))] if sizes else cut


def _stretches(subwords: Subwords, n_words: int, max_subwords: int, max_words: int) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        fitting = int(np.searchsorted(subwords.end, subwords.first[start] + max_subwords, side="right"))
        end = min(max(fitting, start + 1), start + max_words, n_words)
        yield start, end
        if end == n_words:
            return
        # The overlap is shortened if the next word would not fit after it: every window adds new words.
        fits_from = int(np.searchsorted(subwords.first, subwords.end[end] - max_subwords, side="left"))
        start = min(end, max(fits_from, end - int((end - start) * OVERLAP)))


def _cut(subwords: Subwords, start: int, end: int, max_subwords: int) -> Subwords:
    """The subwords of words [start, end); of a single word with too many, the first ones."""
    origin = subwords.first[start]
    stop = min(int(subwords.end[start:end].max()), int(origin) + max_subwords)
    first = np.minimum(subwords.first[start:end], stop) - origin
    return Subwords(subwords.ids[origin:stop], first, np.minimum(subwords.end[start:end], stop) - origin)


class Found(NamedTuple):
    """An entity that a head reads off a window: label, token ranges by position in the window, score."""

    label: str
    ranges: tuple[Range, ...]
    score: float


POOL = 50  # batches' worth of windows that are sorted by length together, so that batches stay random


class Windower:
    """Cuts documents into windows, as a model was configured to.

    splitter: of texts without sentences, if not the one in the configuration.
    context: subwords of a passage; 0 where each window is read by itself.
    """

    def __init__(
        self, config: Config, reader: Reader, max_subwords: int | None, *, splitter: SplitterName | None = None
    ) -> None:
        data = config.data
        self.splitter: SplitterName = splitter or data.splitter
        self._segment = segmenter(self.splitter, data.tokenizer)
        self._reader = reader
        self._max_subwords = (max_subwords or NO_LIMIT) - len(reader.prefix) - len(reader.suffix)
        in_context = ENCODER_KINDS.get(config.encoder.kind).reads_context
        self.context = min(config.encoder.context, self._max_subwords) if in_context else 0

    def segment(self, document: Document) -> Document:
        return self._segment(document)

    def windows(self, document: Document) -> list[list[Window]]:
        """The windows of each sentence of a segmented document."""
        (own,) = self.windows_of([document])
        return own

    def windows_of(self, documents: Sequence[Document]) -> Iterator[list[list[Window]]]:
        """Of each segmented document, the windows of each sentence; none where nothing is written, as in a divider."""
        texts = [(document.text, document.sentences or ()) for document in documents]
        for (text, sentences), subwords in zip(texts, _read(self._reader, texts), strict=True):
            yield [
                windows(sentence, shortened(own), max_subwords=self._max_subwords)
                if any(map(str.isalnum, text[sentence.start : sentence.end]))
                else []
                for sentence, own in zip(sentences, subwords, strict=True)
            ]

    def passages_of(self, documents: Sequence[Document]) -> Iterator[list[list[Window]]]:
        """Of each segmented document, all windows, grouped by what is read together."""
        for of_document in self.windows_of(documents):
            found = [window for own in of_document for window in own]
            sizes = [len(window.subwords.ids) for window in found]
            yield [[found[number] for number in passage] for passage in passages(sizes, self.context)]


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

    A batch costs longest * count, padding included, plus `overhead`. Dynamic programming over positions sorted by
    length: the best partition up to a position follows from those up to all earlier positions.
    """
    if len(lengths) == 1:
        return [[0]]
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
    sizes = np.asarray(lengths, dtype=np.int64)[order]
    cost = np.zeros(len(order) + 1, dtype=np.int64)  # of the first n positions
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


def affordable(
    batch: Iterable[int], lengths: Sequence[Sequence[int]], cost: Callable[[int], int], most: int
) -> Iterator[list[int]]:
    """A batch of passages in parts, so that its windows, padded to the longest, cost at most `most`.

    Passages have similar sizes, but their windows may not: one long sentence would pad hundreds of short ones. A
    passage that costs more by itself is a part by itself.

    lengths: words of each window of each passage.
    cost: of a window, by its number of words.
    """
    part: list[int] = []
    n_windows = longest = 0
    for position in batch:
        own = lengths[position]
        n_windows, longest = n_windows + len(own), max(longest, *own)
        if part and n_windows * cost(longest) > most:
            yield part
            part, n_windows, longest = [], len(own), max(own)
        part.append(position)
    yield part


def shuffled_batches(lengths: Sequence[int], batch_tokens: int, seed: int) -> list[list[int]]:
    """Like `batches_by_length`, but random within pools, and in random order: an epoch's plan."""
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    plan: list[list[int]] = []
    for pool in _pools(order, lengths, POOL * batch_tokens):
        plan += [[pool[i] for i in batch] for batch in batches_by_length([lengths[p] for p in pool], batch_tokens)]
    rng.shuffle(plan)
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


def _read(reader: Reader, texts: Sequence[Text]) -> list[list[Subwords]]:
    """Of each text, the subwords of its sentences."""
    if isinstance(reader, TextsReader):
        return reader.read_texts(texts)
    return [reader(text, sentences) for text, sentences in texts]
