"""Files of word vectors, as text and binary, distinguished by their first bytes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from disconer.core.errors import DisconerError, Where, excerpt

Floats: TypeAlias = NDArray[np.float32]
Row: TypeAlias = tuple[bytes, Floats]  # a word in UTF-8, and its vector


@dataclass(frozen=True, slots=True)
class Rows:
    """A stream of rows, each with `size` numbers, from a file. Errors are raised while it is read."""

    path: str
    size: int
    stream: Iterator[Row]


def cut_short(path: str, *, got: str, expected: str) -> DisconerError:
    return DisconerError(
        "This file of word vectors ends too early",
        where=Where(path),
        got=got,
        expected=expected,
        fix="Copy or download the complete file again.",
    )


def wrong_header(path: str, *, got: str, expected: str) -> DisconerError:
    return DisconerError(
        "The first line of this file of word vectors does not match the rest",
        where=Where(path, 1),
        got=got,
        expected=expected,
        fix="Copy or download the file again, or correct its first line (number of words, vector size).",
    )


_SHOWN = 40  # characters of a line that a message repeats


def read_text(stream: BinaryIO, path: str, header: tuple[int, int] | None) -> Rows:
    """Rows of a text file, from its first row on; `header` is what stood before it, if something did."""
    if header is not None:
        return Rows(path, header[1], _text_rows(stream, path, header[1], first_line=2, count=header[0]))
    first = stream.readline()
    size = len(first.split()) - 1
    if size < 1 or row_of(first, size) is None:
        raise _not_a_vector(path, 1, first, "a word and its numbers")
    return Rows(path, size, _text_rows(chain([first], stream), path, size, first_line=1, count=None))


def _text_rows(lines: Iterable[bytes], path: str, size: int, *, first_line: int, count: int | None) -> Iterator[Row]:
    n_read = 0
    for number, line in enumerate(lines, first_line):
        if not line.strip():
            continue
        row = row_of(line, size)
        if row is None:
            raise _not_a_vector(path, number, line, f"a word and {size} numbers")
        n_read += 1
        if count is not None and n_read > count:
            raise wrong_header(path, got=f"{count} words", expected="at least one more")
        yield row
    if count is not None and n_read < count:
        raise cut_short(path, got=f"{n_read} words", expected=f"{count}, as its first line says")


def row_of(line: bytes, size: int) -> Row | None:
    """The word of a line and its vector, or None if the line is something else."""
    fields = line.rsplit(None, size)  # from the right: some words have spaces in them
    word, *numbers = fields if len(fields) == size + 1 else (b"",)
    if any(map(is_number, word.split()[1:])):  # the vector is longer, and its beginning was taken for a word
        return None
    try:
        vector = np.array(numbers, dtype=np.float32)
    except ValueError:
        return None
    return (word.strip(), vector) if len(vector) == size else None


def is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _not_a_vector(path: str, number: int, line: bytes, expected: str) -> DisconerError:
    n_fields = len(line.split())
    shown = excerpt(line.decode("utf-8", "replace").strip(), _SHOWN)
    return DisconerError(
        "This line is not a word vector",
        where=Where(path, number),
        got=f"{n_fields} {'field' if n_fields == 1 else 'fields'}, {shown}",
        expected=expected,
        fix="If the file was cut short, copy or download it again; if it is something else, name another one.",
    )


_CHUNK = 2**20  # bytes read at once
_LONGEST_WORD = 2**12  # bytes; without a space for longer, this is not a file of words
_FLOAT = np.dtype("<f4")


def read_binary(stream: BinaryIO, path: str, header: tuple[int, int], start: int) -> Rows:
    """Rows of a binary file from its first row on, which is `start` bytes into the file."""
    count, size = header
    return Rows(path, size, _binary_rows(_Buffer(stream, start), path, count, size))


class _Buffer:
    """A stream with lookahead."""

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


def _binary_rows(buffer: _Buffer, path: str, count: int, size: int) -> Iterator[Row]:
    for number in range(count):
        length = buffer.find_space()
        start = buffer.offset
        word = buffer.take(max(0, length))
        numbers = buffer.take(1 + size * _FLOAT.itemsize)[1:]
        if length < 0 and len(numbers) == size * _FLOAT.itemsize:
            raise DisconerError(
                "A word is missing",
                where=Where(path, offset=start),
                expected=f"word {number + 1} of {count}, and {size} numbers, as the first line says",
                fix="If the first line is wrong, correct it; else copy or download the file again.",
            )
        if len(numbers) < size * _FLOAT.itemsize:
            raise cut_short(path, got=f"{number} whole words", expected=f"{count}, as its first line says")
        yield word.lstrip(b"\n\r"), np.frombuffer(numbers, dtype=_FLOAT)
    if rest := buffer.take(_LONGEST_WORD).strip():
        raise wrong_header(path, got=f"{count} words of {size} numbers", expected=f"room for {len(rest)} bytes more")


_GZIP = b"\x1f\x8b"
# Other files that users give, and what to give instead, by the bytes that such files start with.
_OTHERS = {
    b"PK": ("a .zip archive", "Unpack it and give the file of vectors in it."),
    b"\x80": (
        "a Python pickle, as gensim saves vectors",
        "Save them with `save_word2vec_format`: pickles are not read.",
    ),
    b"\xba\x16\x4f\x2f": ("fastText's own binary model", "Take the .vec file that was published with it."),
    b"\x89HDF": ("an HDF5 file", "For ELMo set encoder.kind to elmo."),
}
_SAMPLE = 2**18  # bytes that identify a file: the first lines


@contextmanager
def opened(path: Path) -> Iterator[Rows]:
    """The rows of a file of text or of word2vec's binary form, compressed by gzip or not."""
    name = str(path)
    with _errors_told(name), _stream(path) as stream:
        sample = stream.read(_SAMPLE)
    _refuse_others(sample, name)
    with _stream(path) as stream:
        rows = _any_rows(stream, sample, name)
        yield Rows(name, rows.size, _told(rows.stream, name))


def _told(stream: Iterator[Row], path: str) -> Iterator[Row]:
    with _errors_told(path):
        yield from stream


@contextmanager
def _errors_told(path: str) -> Iterator[None]:
    """Errors of reading as messages for users."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise cut_short(path, got=str(error).rstrip("."), expected="a complete .gz file") from error
    except OSError as error:
        raise DisconerError(
            "This file of word vectors cannot be read", where=Where(path), got=error.strerror or str(error)
        ) from error


@contextmanager
def _stream(path: Path) -> Iterator[BinaryIO]:
    with open(path, "rb") as plain:
        packed = plain.read(len(_GZIP)) == _GZIP
        plain.seek(0)
        if not packed:
            yield plain
            return
        with gzip.GzipFile(fileobj=plain) as unpacked:
            yield cast(BinaryIO, unpacked)


def _refuse_others(sample: bytes, path: str) -> None:
    if not sample.strip():
        raise DisconerError(
            "This file of word vectors is empty", where=Where(path), fix="Copy the complete file again."
        )
    for beginning, (what, fix) in _OTHERS.items():
        if sample.startswith(beginning):
            raise DisconerError("This is not a file of word vectors", where=Where(path), got=what, fix=fix)


def _any_rows(stream: BinaryIO, sample: bytes, path: str) -> Rows:
    first, _, rest = sample.partition(b"\n")
    header = _header(first)
    if header is None:
        return read_text(stream, path, None)
    stream.readline()
    if _is_text(rest.partition(b"\n")[0]):
        return read_text(stream, path, header)
    return read_binary(stream, path, header, len(first) + 1)


def _header(line: bytes) -> tuple[int, int] | None:
    """Number of words and vector size, if a line states them."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    count, size = map(int, fields)
    return (count, size) if count and size else None


def _is_text(line: bytes) -> bool:
    """Whether this is a word followed by numbers as text, however many."""
    fields = line.split()
    return len(fields) > 1 and is_number(fields[-1])
