"""A table of word vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from disconer.nn.encoders.vectors.index import WordIndex
from disconer.nn.encoders.vectors.variants import variants

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
