r"""The cells of WebAnno TSV: what is escaped, and how annotations share a cell."""

from __future__ import annotations

import re
from typing import NamedTuple

EMPTY, UNSET = "_", "*"  # no annotation; an annotation without a value
_RESERVED = re.compile(r"[\\\[\]|_;\t\n\r*]|->")
_LETTERS = {"\t": "t", "\n": "n", "\r": "r"}
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_MEANINGS = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}
_NUMBERED = re.compile(r"(?P<value>.*)\[(?P<number>[0-9]{1,9})\]", re.DOTALL)


def escape(value: str) -> str:
    r"""A value as a cell has it.

    >>> escape("Cell_line [a]|b")
    'Cell\\_line \\[a\\]\\|b'
    """
    return _RESERVED.sub(lambda match: "\\" + _LETTERS.get(match.group(), match.group()), value)


def escape_text(text: str) -> str:
    """A text in `#Text=` or a token: only what would break the line is escaped."""
    return re.sub(r"[\\\t\n\r]", lambda match: "\\" + _LETTERS.get(match.group(), match.group()), text)


def unescape(value: str) -> str:
    """The value of a cell, or the text of a line."""
    return _ESCAPED.sub(lambda match: _MEANINGS.get(match.group(1), match.group(1)), value)


def split(cell: str, separator: str) -> list[str]:
    r"""The parts of a cell; a separator after a backslash does not count.

    >>> split(r"a\|b|c", "|")
    ['a\\|b', 'c']
    """
    parts, start, place = [], 0, 0
    while place < len(cell):
        if cell[place] == "\\":
            place += 2
            continue
        if cell.startswith(separator, place):
            parts.append(cell[start:place])
            start = place + len(separator)
            place = start
            continue
        place += 1
    return [*parts, cell[start:]]


class Value(NamedTuple):
    """A value with the number of its annotation, if it has one; None if it is not set."""

    value: str | None
    number: int | None


def parse(part: str) -> Value:
    r"""A part of a cell.

    >>> parse(r"a\_b[3]"), parse("*"), parse(r"\*")
    (Value(value='a_b', number=3), Value(value=None, number=None), Value(value='*', number=None))
    """
    match = _NUMBERED.fullmatch(part)
    raw, number = (match["value"], int(match["number"])) if match else (part, None)
    return Value(None if raw in (UNSET, "") else unescape(raw), number)
