"""Files of word vectors, told apart by their first bytes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.vectors.binary import read_binary
from disconer.nn.encoders.vectors.rows import Row, Rows, cut_short
from disconer.nn.encoders.vectors.text import is_number, read_text

_GZIP = b"\x1f\x8b"
# What people give, and what they have to give instead, by the bytes that such files begin with.
_OTHERS = {
    b"PK": ("a .zip archive", "Unpack it and name the file of vectors in it."),
    b"\x80": ("a Python pickle, as gensim saves vectors", "Save them with `save_word2vec_format`: no pickle is read."),
    b"\xba\x16\x4f\x2f": ("fastText's own binary model", "Take the .vec file that was published with it."),
    b"\x89HDF": ("an HDF5 file", "For ELMo set encoder.kind to elmo."),
}
_SAMPLE = 2**18  # bytes that tell what a file is: the first lines


@contextmanager
def opened(path: Path) -> Iterator[Rows]:
    """The rows of a file of text or of word2vec's binary form, compressed by gzip or not."""
    name = str(path)
    with _errors_told(name), _stream(path) as stream:
        sample = stream.read(_SAMPLE)
    _refuse_others(sample, name)
    with _stream(path) as stream:
        rows = _rows(stream, sample, name)
        yield Rows(name, rows.size, _told(rows.stream, name))


def _told(stream: Iterator[Row], path: str) -> Iterator[Row]:
    with _errors_told(path):
        yield from stream


@contextmanager
def _errors_told(path: str) -> Iterator[None]:
    """Errors of reading, said for people."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise cut_short(path, got=str(error).rstrip("."), expected="a whole .gz file") from error
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
        raise DisconerError("This file of word vectors is empty", where=Where(path), fix="Copy it again, whole.")
    for beginning, (what, fix) in _OTHERS.items():
        if sample.startswith(beginning):
            raise DisconerError("This is no file of word vectors", where=Where(path), got=what, fix=fix)


def _rows(stream: BinaryIO, sample: bytes, path: str) -> Rows:
    first, _, rest = sample.partition(b"\n")
    header = _header(first)
    if header is None:
        return read_text(stream, path, None)
    stream.readline()
    if _is_text(rest.partition(b"\n")[0]):
        return read_text(stream, path, header)
    return read_binary(stream, path, header, len(first) + 1)


def _header(line: bytes) -> tuple[int, int] | None:
    """Number of words and numbers a vector, if a line says these."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    count, size = map(int, fields)
    return (count, size) if count and size else None


def _is_text(line: bytes) -> bool:
    """Whether this is a word and numbers in letters, however many."""
    fields = line.split()
    return len(fields) > 1 and is_number(fields[-1])
