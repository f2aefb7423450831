"""The reader of ELMo: a piece is a word, as the numbers of its letters. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from disconer.core.types import Sentence
from disconer.nn.reader import Ints, Pieces

MAX_LETTERS = 50  # numbers of a word, the marks around it included
# Letters are bytes, counted from 1, since 0 is for padding between words. What follows them:
_SENTENCE_BEGINS, _SENTENCE_ENDS, _WORD_BEGINS, _WORD_ENDS, _FILL = range(257, 262)

_REMEMBERED = 2**16  # words whose numbers are kept


def _word(letters: Sequence[int]) -> Ints:
    numbers = np.full(MAX_LETTERS, _FILL, dtype=np.int64)
    kept = [_WORD_BEGINS, *letters[: MAX_LETTERS - 2], _WORD_ENDS]
    numbers[: len(kept)] = kept
    return numbers


@lru_cache(_REMEMBERED)
def letters_of(word: str) -> Ints:
    """The numbers of a word.  Shape: (MAX_LETTERS,)"""
    return _word([byte + 1 for byte in word.encode("utf-8", "ignore")])


class ElmoReader:
    """Reads words letter by letter, and puts the marks of a sentence around each window. See `Reader`."""

    padding = 0
    prefix: Ints = _word([_SENTENCE_BEGINS])[None]
    suffix: Ints = _word([_SENTENCE_ENDS])[None]

    def __call__(self, text: str, sentences: Sequence[Sentence]) -> list[Pieces]:
        """See `Reader`."""
        return [_read(text, sentence) for sentence in sentences]

    def save(self, folder: Path) -> None:
        """There is nothing to keep: letters are numbered as the first ELMo did."""


def _read(text: str, sentence: Sentence) -> Pieces:
    words = [letters_of(text[start:end]) for start, end in sentence.tokens]
    place = np.arange(len(words))
    return Pieces(np.stack(words) if words else np.zeros((0, MAX_LETTERS), dtype=np.int64), place, place + 1)
