"""Which row of a table belongs to a word: looked up in arrays on disk, so that no dictionary has to be built."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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
