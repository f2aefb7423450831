"""Word vectors as word2vec writes them in binary: a header, then each word, a space and its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.vectors.rows import Row, Rows, cut_short, header_at_fault

_CHUNK = 2**20  # bytes read at once
_LONGEST_WORD = 2**12  # bytes; where no space comes for longer, these are no words
_FLOAT = np.dtype("<f4")


def read_binary(stream: BinaryIO, path: str, header: tuple[int, int], start: int) -> Rows:
    """Rows of a binary file from its first row on, which is `start` bytes into the file."""
    count, size = header
    return Rows(path, size, _rows(_Buffer(stream, start), path, count, size))


class _Buffer:
    """A stream of which the next bytes can be looked at before they are taken."""

    def __init__(self, stream: BinaryIO, start: int) -> None:
        self._stream = stream
        self._bytes = b""
        self._taken = 0
        self._offset = start  # in the file, of the first byte that is held

    @property
    def offset(self) -> int:
        return self._offset + self._taken

    def find_space(self) -> int:
        """How far the next space is, or -1."""
        self._hold(_LONGEST_WORD)
        place = self._bytes.find(b" ", self._taken, self._taken + _LONGEST_WORD)
        return place - self._taken if place >= 0 else -1

    def take(self, n_bytes: int) -> bytes:
        self._hold(n_bytes)
        taken = self._bytes[self._taken : self._taken + n_bytes]
        self._taken += len(taken)
        return taken

    def _hold(self, n_bytes: int) -> None:
        while len(self._bytes) - self._taken < n_bytes and (more := self._stream.read(_CHUNK)):
            self._bytes = self._bytes[self._taken :] + more
            self._offset += self._taken
            self._taken = 0


def _rows(buffer: _Buffer, path: str, count: int, size: int) -> Iterator[Row]:
    for number in range(count):
        length = buffer.find_space()
        start = buffer.offset
        word = buffer.take(max(0, length))
        numbers = buffer.take(1 + size * _FLOAT.itemsize)[1:]
        if length < 0 and len(numbers) == size * _FLOAT.itemsize:
            raise DisconerError(
                "There is no word where one should begin",
                where=Where(path, offset=start),
                expected=f"word {number + 1} of {count}, and {size} numbers, as the first line says",
                fix="If the first line is wrong, correct it; else copy or download the file again.",
            )
        if len(numbers) < size * _FLOAT.itemsize:
            raise cut_short(path, got=f"{number} whole words", expected=f"{count}, as its first line says")
        yield word.lstrip(b"\n\r"), np.frombuffer(numbers, dtype=_FLOAT)
    if rest := buffer.take(_LONGEST_WORD).strip():
        raise header_at_fault(path, got=f"{count} words of {size} numbers", expected=f"room for {len(rest)} bytes more")
