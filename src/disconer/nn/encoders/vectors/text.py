"""Word vectors as text: GloVe's, word2vec's and fastText's .vec, which have a header of two numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

import numpy as np

from disconer.core.errors import DisconerError, Where, excerpt
from disconer.nn.encoders.vectors.rows import Row, Rows, cut_short, header_at_fault

_SHOWN = 40  # characters of a line that a message repeats


def read_text(stream: BinaryIO, path: str, header: tuple[int, int] | None) -> Rows:
    """Rows of a text file, from its first row on; `header` is what stood before it, if something did."""
    if header is not None:
        return Rows(path, header[1], _rows(stream, path, header[1], first_line=2, count=header[0]))
    first = stream.readline()
    size = len(first.split()) - 1
    if size < 1 or row_of(first, size) is None:
        raise _not_a_vector(path, 1, first, "a word and its numbers")
    return Rows(path, size, _rows(chain([first], stream), path, size, first_line=1, count=None))


def _rows(lines: Iterable[bytes], path: str, size: int, *, first_line: int, count: int | None) -> Iterator[Row]:
    n_read = 0
    for number, line in enumerate(lines, first_line):
        if not line.strip():
            continue
        row = row_of(line, size)
        if row is None:
            raise _not_a_vector(path, number, line, f"a word and {size} numbers")
        n_read += 1
        if count is not None and n_read > count:
            raise header_at_fault(path, got=f"{count} words", expected="at least one more")
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
        "This line is no word vector",
        where=Where(path, number),
        got=f"{n_fields} {'field' if n_fields == 1 else 'fields'}, {shown}",
        expected=expected,
        fix="If the file was cut short, copy or download it again; if it is something else, name another one.",
    )
