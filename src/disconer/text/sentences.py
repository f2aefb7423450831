"""Sentence splitters: from text to stretches of it, with exact offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol


class Splitter(Protocol):
    """Finds sentences [start, end): in order, without overlap, covering all but whitespace, none with it at an end."""

    def __call__(self, text: str) -> list[tuple[int, int]]: ...


def lines(text: str) -> list[tuple[int, int]]:
    """A sentence is a line."""
    return list(_stretches(text, 0, len(text)))


_LINE = re.compile(r"[^\r\n]+")


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _LINE.finditer(text, start, end):
        stretch = match.group()
        lead = len(stretch) - len(stretch.lstrip())
        if lead < len(stretch):
            yield match.start() + lead, match.start() + len(stretch.rstrip())


SPLITTERS: dict[str, Splitter] = {"lines": lines}
