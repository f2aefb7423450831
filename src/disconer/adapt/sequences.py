"""Packed sequences: slices of the flat text, all of one length, so that nothing is padded and no text is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.adapt.cache import Tokens
from disconer.core.errors import DisconerError
from disconer.nn.encoders.transformer.case import Case


class Sequences:
    """Each sequence is a slice of the text between the tokenizer's marks for begin and end.

    A slice may begin and end anywhere and reach over several documents, whose separators it holds. Its pieces see each
    other across separators, and positions run through: a mask to keep documents apart would cost more than it brings.
    The last slice reaches back to be as long as all others.

    length: pieces of a sequence, marks included.
    begin, end: the marks; none where the tokenizer has none.
    """

    def __init__(self, tokens: Tokens, *, length: int, begin: int | None, end: int | None) -> None:
        self._tokens = tokens
        self._begin, self._end = ([] if mark is None else [mark] for mark in (begin, end))
        self._size = length - len(self._begin) - len(self._end)
        if len(tokens) < self._size:
            raise DisconerError(
                "There is too little text",
                got=f"{len(tokens):,} pieces",
                expected=f"at least one sequence of {self._size:,}, and better millions",
                fix="Give more text, or a smaller length.",
            )

    def __len__(self) -> int:
        return -(-len(self._tokens) // self._size)

    def ids(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Shape: (sequences, length)"""
        return self._framed(self._tokens.ids, numbers, self._begin, self._end).astype(np.int32)

    def words(self, numbers: NDArray[np.int64]) -> NDArray[np.int32] | None:
        """The number of each piece's word within its sequence, or None if words do not matter.

        Shape: (sequences, length)
        """
        if self._tokens.starts is None:
            return None
        starts = self._framed(self._tokens.starts, numbers, [True] * len(self._begin), [True] * len(self._end))
        starts[:, : len(self._begin) + 1] = True  # a word that the slice cuts begins here
        return (starts.cumsum(1) - 1).astype(np.int32)

    def cases(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8] | None:
        """The case of each piece, or None if the encoder does not read it. Shape: (sequences, length)"""
        if self._tokens.cases is None:
            return None
        begin, end = ([Case.LOWER] * len(marks) for marks in (self._begin, self._end))
        return self._framed(self._tokens.cases, numbers, begin, end)

    def _framed(self, flat: NDArray[Any], numbers: NDArray[np.int64], begin: list[Any], end: list[Any]) -> NDArray[Any]:
        first = np.minimum(numbers * self._size, len(self._tokens) - self._size)
        inner = flat[first[:, None] + np.arange(self._size)]  # (sequences, size)
        rows = np.empty((len(numbers), len(begin) + self._size + len(end)), flat.dtype)
        rows[:, : len(begin)] = begin
        rows[:, len(begin) : len(begin) + self._size] = inner
        rows[:, len(begin) + self._size :] = end
        return rows
