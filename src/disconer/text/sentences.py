"""Sentence splitters: from text to stretches of it, with exact offsets."""

from __future__ import annotations

import re
from typing import Protocol

from disconer.text.rules import rules


class Splitter(Protocol):
    """Finds sentences [start, end): in order, without overlap, covering all but whitespace, none with it at an end.

    Whitespace is what `str.isspace` says, which is also what `\\s` and `str.strip` take for it.
    """

    def __call__(self, text: str) -> list[tuple[int, int]]: ...


_LINE = re.compile(r"[^\r\n]+")


def lines(text: str) -> list[tuple[int, int]]:
    """A sentence is a line."""
    sentences = []
    for match in _LINE.finditer(text):
        line = match.group()
        body = line.strip()
        if body:
            start = match.start() + len(line) - len(line.lstrip())
            sentences.append((start, start + len(body)))
    return sentences


SPLITTERS: dict[str, Splitter] = {"rules": rules, "lines": lines}
