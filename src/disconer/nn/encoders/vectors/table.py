"""A table of word vectors, and which row of it belongs to a word. No torch here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_DIGIT = re.compile(r"\d")
_FOLDED = ("0", "#")  # what tables write for a digit, if they fold them; word2vec's Google News has "#"


def variants(word: str) -> Iterator[str]:
    """A word as it is, lower-cased, and both with their digits folded: the order in which a table is asked.

    >>> list(variants("IL6"))
    ['IL6', 'il6', 'IL0', 'il0', 'IL#', 'il#']
    """
    lower = word.lower()
    forms = (word,) if lower == word else (word, lower)
    yield from forms
    if _DIGIT.search(word):
        for digit in _FOLDED:
            for form in forms:
                folded = _DIGIT.sub(digit, form)
                if folded != form:
                    yield folded


Hashes: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.uint8]


def word_hash(word: bytes) -> int:
    """The same number for a word on every machine and in every process."""
    return int.from_bytes(blake2b(word, digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class WordIndex:
    """Words by their hashes.

    hashes: of the words, sorted. rows: of the same words, where each stands in the table.
    ends: of the words in the order of the table, where each ends in `letters`, their UTF-8 one after another.
    """

    hashes: Hashes
    rows: Ints
    ends: Ints
    letters: Bytes

    def get(self, word: str) -> int | None:
        """The row of exactly this word."""
        wanted = word.encode("utf-8", "surrogatepass")
        number = word_hash(wanted)
        place = int(np.searchsorted(self.hashes, np.uint64(number)))
        while place < len(self.hashes) and self.hashes[place] == number:  # two words may share a hash
            row = int(self.rows[place])
            if self.word(row) == wanted:
                return row
            place += 1
        return None

    def word(self, row: int) -> bytes:
        start = self.ends[row - 1] if row else 0
        return self.letters[start : self.ends[row]].tobytes()


def build_index(words: list[bytes]) -> tuple[WordIndex, int]:
    """The index of a table's words, row by row, and how many of them had been there before: the first one counts."""
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    letters = np.frombuffer(b"".join(words), dtype=np.uint8)
    hashes = np.fromiter(map(word_hash, words), dtype=np.uint64, count=len(words))
    rows = np.argsort(hashes, kind="stable").astype(np.int64)
    again = _again(words, hashes[rows], rows)
    kept = rows[~again]
    return WordIndex(hashes[kept], kept, ends, letters), int(again.sum())


def _again(words: list[bytes], hashes: Hashes, rows: Ints) -> NDArray[np.bool_]:
    """Which places of the sorted index hold a word that an earlier row has."""
    again = np.zeros(len(rows), dtype=bool)
    seen: set[bytes] = set()
    for place in np.flatnonzero(hashes[1:] == hashes[:-1]) + 1:
        if place == 1 or hashes[place - 2] != hashes[place]:
            seen = {words[rows[place - 1]]}
        word = words[rows[place]]
        again[place] = word in seen
        seen.add(word)
    return again


Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Words and their vectors.

    vectors: a row a word, in the order of the file (by frequency, as a rule).  Shape: (n, d)
    left_out: how much of the file could not be used, by reason.
    """

    vectors: Floats
    index: WordIndex
    left_out: Mapping[str, int]

    @property
    def size(self) -> int:
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.vectors)

    def word(self, row: int) -> str:
        return self.index.word(row).decode("utf-8", "surrogatepass")

    def rows_of(self, words: Iterable[str]) -> list[int]:
        """The rows of words and of all their variants, in the order of the table."""
        forms = {form for word in set(words) for form in variants(word)}
        return sorted(row for form in forms if (row := self.index.get(form)) is not None)

    def find(self, word: str) -> int | None:
        """The row of a word, or of the first of its variants that the table has."""
        return next((row for form in variants(word) if (row := self.index.get(form)) is not None), None)
