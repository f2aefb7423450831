"""Mentions whose text is not what stands at their offsets: which can be trusted, and how the others may be counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from disconer.core.derived import surface_fits
from disconer.core.types import joined_text
from disconer.formats.code_units import FIT

Pairs = Sequence[tuple[int, int]]
Mention = tuple[Pairs, str]  # offsets and surface text, as the file has them


def excuse(pairs: Pairs, text: str, surface: str, labels: Collection[str]) -> str | None:
    """Why the offsets can be trusted although the surface does not fit, or None if they cannot.

    Two things happen to real annotation files. A tool keeps only the first line of a mention of several lines. And
    users rename a label by search and replace, which also replaces the word in the texts of mentions. All other words
    must fit.
    """
    found = joined_text(text, pairs)
    if len(found.splitlines()) > 1 and found.splitlines()[0].split() == surface.split():
        return "surface texts cut at a line break"
    words, surface_words = found.split(), surface.split()
    if len(words) == len(surface_words) > 1:
        replaced = [said for word, said in zip(words, surface_words, strict=True) if word != said]
        if len(replaced) == 1 and replaced[0] in labels:
            return "surface texts with a label inserted by search and replace"
    return None


def advice(text: str, mentions: Iterable[Mention]) -> str | None:
    """What to do when mentions do not fit the text, if one way of counting explains most of those that do not."""
    misfits = [(pairs, surface) for pairs, surface in mentions if not surface_fits(pairs, text, surface)]
    n_fitting = [counting.n_fitting(text, misfits) for counting in _COUNTINGS]
    best = max(n_fitting)
    return _COUNTINGS[n_fitting.index(best)].advice if 2 * best > len(misfits) else None


def _unchanged(text: str) -> str:
    return text


def _bytes(text: str) -> str:
    """One character for each byte of UTF-8."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _code_units(text: str) -> str:
    """Two characters for each that UTF-16 stores as two."""
    return re.sub("[\U00010000-\U0010ffff]", r"\g<0>\g<0>", text)


@dataclass(frozen=True, slots=True)
class _Counting:
    """A way to count: the text, and the surface of a mention, as they are when so counted."""

    advice: str
    text: Callable[[str], str]
    surface: Callable[[str], str] = _unchanged

    def n_fitting(self, text: str, mentions: list[Mention]) -> int:
        counted = self.text(text)
        return sum(surface_fits(pairs, counted, self.surface(surface)) for pairs, surface in mentions)


_COUNTINGS = (
    _Counting(
        "The offsets fit if the byte order mark at the start of the text is not counted: remove it from the text.",
        lambda text: text.removeprefix("\ufeff"),
    ),
    _Counting(
        "The offsets fit if each CR LF is one character: convert the line ends of the text (dos2unix).",
        lambda text: text.replace("\r\n", "\n"),
    ),
    _Counting(
        "The offsets fit if each line ends in CR LF: convert the line ends of the text (unix2dos).",
        lambda text: re.sub("(?<!\r)\n", "\r\n", text),
    ),
    _Counting("The offsets fit if they count bytes of UTF-8: convert them to characters.", _bytes, _bytes),
    _Counting(FIT, _code_units, _code_units),
    _Counting(
        "The offsets fit if each is one less: either they count from 1, or the text lost its byte order mark.",
        lambda text: "\ufeff" + text,
    ),
)
