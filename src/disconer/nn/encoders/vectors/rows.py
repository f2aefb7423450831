"""What every reader of vector files gives: words with their vectors, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.vectors.table import Floats

Row: TypeAlias = tuple[bytes, Floats]  # a word in UTF-8, and its vector


@dataclass(frozen=True, slots=True)
class Rows:
    """A stream of rows, each with `size` numbers, from a file. What is wrong with it is raised while it is read."""

    path: str
    size: int
    stream: Iterator[Row]


def cut_short(path: str, *, got: str, expected: str) -> DisconerError:
    return DisconerError(
        "This file of word vectors ends too early",
        where=Where(path),
        got=got,
        expected=expected,
        fix="Copy or download it again, whole.",
    )


def header_at_fault(path: str, *, got: str, expected: str) -> DisconerError:
    return DisconerError(
        "The first line of this file of word vectors says something else than the rest",
        where=Where(path, 1),
        got=got,
        expected=expected,
        fix="Copy or download the file again, or correct its first line (number of words, numbers a vector).",
    )
