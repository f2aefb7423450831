"""What an encoder reads of a sentence: numbers, and which of them stand for which word. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disconer.core.sentence import Sentence

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Subwords:
    """The subwords of one sentence, without special tokens. A subword is the unit that an encoder reads.

    ids: of each subword a number, or a row of as many numbers as every subword of this reader has.
        Shape: (subwords,) or (subwords, C)
    first, end: of each word, its subwords [first, end). A word that the reader skips has none: first == end.
    """

    ids: Ints
    first: Ints
    end: Ints


class Reader(Protocol):
    """The side of an encoder that reads text.

    prefix, suffix: subwords put before and after each window.  Shape: (k,) or (k, C)
    padding: the number that fills up rows.
    """

    prefix: Ints
    suffix: Ints
    padding: int

    def __call__(self, text: str, sentences: Sequence[Sentence]) -> list[Subwords]:
        """The subwords of sentences of one text."""
        ...

    def save(self, folder: Path) -> None:
        """Write what is needed to read in the same way again."""
        ...


Text = tuple[str, Sequence[Sentence]]  # a text and its sentences


@runtime_checkable
class TextsReader(Protocol):
    """A reader that takes less time for many texts at once. This method is optional."""

    def read_texts(self, texts: Sequence[Text]) -> list[list[Subwords]]:
        """Of each text, the subwords of its sentences."""
        ...
