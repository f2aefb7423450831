"""A cache of words' subwords: most words of a text have been read before. No torch here.

A tokenizer of the BERT family splits text at whitespace before it does anything else that looks at more than one
character. So a stretch between two spaces has the same subwords wherever it occurs, and is tokenized only once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from disconer.nn.reader import Ints

TOGETHER = 64  # words
MOST = 2**17  # subwords, and words, that are remembered: some 20 MB
CHARACTERS = 8  # remembered characters of words, per remembered subword
MOST_LISTED = 2**14  # words whose subwords are kept as Python's own numbers, too: some 10 MB


@dataclass(frozen=True, slots=True)
class Pieces:
    """The subwords of some stretches of text, one after another.

    sizes: subwords of each stretch.  Shape: (stretches,)
    ids: see `Subwords`.  Shape: (subwords,) or (subwords, C)
    start, end: of each subword, in its stretch.  Shape: (subwords,)
    """

    sizes: Ints
    ids: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True, slots=True)
class ListedPieces:
    """The subwords of one stretch of text as lists: with a few of them, these take less time than arrays.

    ids, start, end: see `Pieces`.
    """

    ids: list[Any]
    start: list[int]
    end: list[int]


ReadStretches = Callable[[Sequence[str]], Pieces]


def splits_at_spaces(tokenizer: Any) -> bool:
    """Whether a tokenizer of the tokenizers library reads a stretch between two spaces independently of its context."""
    kinds = [type(part).__name__ for part in (tokenizer.normalizer, tokenizer.pre_tokenizer)]
    special = tokenizer.get_added_tokens_decoder().values()
    return kinds == ["BertNormalizer", "BertPreTokenizer"] and not any(map(_looks_around, special))


def _looks_around(token: Any) -> bool:
    """Whether a special token takes spaces along, contains one, or has to be a word by itself."""
    return bool(token.lstrip or token.rstrip or token.single_word or token.content.split() != [token.content])


class Table:
    """Values of words or subwords, one after another. Room for more is made ahead, so that few arrays are copied."""

    def __init__(self) -> None:
        self.values: Ints = np.empty(0, np.int64)
        self._n = 0

    def add(self, more: Ints) -> None:
        """What was there before stays as it is: others may be reading it."""
        end = self._n + len(more)
        if not self._n:
            self.values = np.empty((2 * end, *more.shape[1:]), more.dtype)
        elif end > len(self.values):
            larger = np.empty((2 * end, *more.shape[1:]), more.dtype)
            larger[: self._n] = self.values[: self._n]
            self.values = larger
        self.values[self._n : end] = more
        self._n = end

    def __len__(self) -> int:
        return self._n


class SubwordCache:
    """Reads stretches of text like `read`, which is only called for words that were not read before.

    Several threads may use it. A copy, also in another process, begins with nothing.
    """

    def __init__(self, read: ReadStretches, most: int = MOST) -> None:
        self._read, self._most = read, most
        self._lock = Lock()
        self._listed: dict[str, ListedPieces] = {}
        self._forget()

    def __reduce__(self) -> tuple[type[SubwordCache], tuple[ReadStretches, int]]:
        return SubwordCache, (self._read, self._most)

    def __call__(self, stretches: Sequence[str]) -> Pieces:
        if not stretches:
            return self._read(stretches)
        split = [stretch.split(" ") for stretch in stretches]
        words = list(chain.from_iterable(split))
        numbers, known, first = self._known(words)
        n_words = np.fromiter(map(len, split), np.int64, len(split))
        opening = np.cumsum(n_words) - n_words  # of each stretch, its first word
        widths = np.fromiter(map(len, words), np.int64, len(words)) + 1  # with the space after them
        places = np.cumsum(widths) - widths
        sizes = known.sizes[numbers]
        moved = np.repeat(places - np.repeat(places[opening], n_words), sizes)  # of each subword, where its word starts
        chosen = np.repeat(first[numbers] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        return Pieces(
            sizes=np.add.reduceat(sizes, opening),
            ids=known.ids[chosen],
            start=known.start[chosen] + moved,
            end=known.end[chosen] + moved,
        )

    def read_one(self, stretch: str) -> ListedPieces:
        """The same for one stretch of a few words."""
        words = stretch.split(" ")
        known = self._listed
        if any(word not in known for word in words):
            if len(known) >= MOST_LISTED:
                known = self._listed = {}  # another thread goes on with the one that it has
            known |= self._lists(list(set(words).difference(known)))
        found, place = ListedPieces([], [], []), 0
        for word in words:
            own = known[word]
            found.ids.extend(own.ids)
            found.start.extend([place + start for start in own.start])
            found.end.extend([place + end for end in own.end])
            place += len(word) + 1
        return found

    def _lists(self, words: Sequence[str]) -> dict[str, ListedPieces]:
        read = self(words)
        ids, start, end = read.ids.tolist(), read.start.tolist(), read.end.tolist()
        bounds = [0, *np.cumsum(read.sizes).tolist()]
        return {
            word: ListedPieces(ids[first:last], start[first:last], end[first:last])
            for word, first, last in zip(words, bounds, bounds[1:], strict=False)
        }

    def _known(self, words: Sequence[str]) -> tuple[Ints, Pieces, Ints]:
        """The number of each word; all known subwords; and, by a word's number, where its subwords start."""
        with self._lock:
            if max(len(self._numbers), len(self._ids), self._n_characters // CHARACTERS) > self._most:
                self._forget()
            if new := set(words).difference(self._numbers):
                self._learn(list(new))
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
            tables = (self._sizes, self._ids, self._start, self._end)
            return numbers, Pieces(*(table.values for table in tables)), self._first.values

    def _learn(self, words: Sequence[str]) -> None:
        new = self._read_joined(words)
        self._numbers.update(zip(words, range(len(self._numbers), len(self._numbers) + len(words)), strict=True))
        self._n_characters += sum(map(len, words))
        self._first.add(np.cumsum(new.sizes) - new.sizes + len(self._ids))
        self._sizes.add(new.sizes)
        self._ids.add(new.ids)
        self._start.add(new.start)
        self._end.add(new.end)

    def _read_joined(self, words: Sequence[str]) -> Pieces:
        """The subwords of each of some words, read many at a time, which takes half the time."""
        groups = [words[first : first + TOGETHER] for first in range(0, len(words), TOGETHER)]
        read = self._read([" ".join(group) for group in groups])
        widths = np.fromiter(map(len, words), np.int64, len(words)) + 1
        places = np.cumsum(widths) - widths  # of each word, as if all groups were joined by spaces
        moved = np.repeat(places[::TOGETHER], read.sizes)
        start, end = read.start + moved, read.end + moved
        word = np.searchsorted(places, start, side="right") - 1  # of each subword
        sizes = np.bincount(word, minlength=len(words))
        return Pieces(sizes, read.ids, start - places[word], end - places[word])

    def _forget(self) -> None:
        self._numbers: dict[str, int] = {}
        self._n_characters = 0
        self._sizes, self._first, self._ids, self._start, self._end = (Table() for _ in range(5))
