"""Sentences of clinical notes as Dai et al. (2020) cut them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEADER_LINES = 6  # the first lines of a note, blank ones included, name the patient and the dates: never cut
_LONG = 150  # characters; a shorter line is one sentence
_STOP = re.compile(r"[.!?](?=\s*(\S))")


def dai(text: str) -> list[tuple[int, int]]:
    """A sentence is a line, and a long one is cut after each stop that an upper-case letter follows."""
    sentences: list[tuple[int, int]] = []
    position = 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        start, end = _trimmed(text, position, position + len(line))
        if number >= _HEADER_LINES and end - start >= _LONG:
            sentences += _cut(text, start, end)
        elif start < end:
            sentences.append((start, end))
        position += len(line)
    return sentences


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for stop in _STOP.finditer(text, start, end):
        if stop.group(1).isupper():
            yield _trimmed(text, start, stop.end())
            start = stop.end()
    yield _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    line = text[start:end]
    return start + len(line) - len(line.lstrip()), start + len(line.rstrip())
