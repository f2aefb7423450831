"""From text to sentences and tokens: line breaks, sentence splitters, tokenizers, and documents with both.

A blank line, a form feed or a paragraph separator always ends a stretch. A single line break does so in texts whose
lines are units (forum posts, criteria, lists), not in texts whose lines were broken to fit a width, as clinical notes
are. Which of the two a text is, its own lines say (`_fill_width`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple, Protocol

from disconer.core.types import Document, Sentence, Token
from disconer.text.stops import sentence_ends

_new = tuple.__new__  # what `Token(…)` comes down to, at half the time: corpora have millions of tokens


class Tokenizer(Protocol):
    """Finds the words of text[start:end]: in order, without overlap, covering all but whitespace."""

    def __call__(self, text: str, start: int, end: int) -> tuple[Token, ...]: ...


class RegexTokenizer:
    """Words are the matches of a pattern."""

    def __init__(self, pattern: str) -> None:
        self._finditer = re.compile(pattern).finditer

    def __call__(self, text: str, start: int, end: int) -> tuple[Token, ...]:
        return tuple([_new(Token, match.span()) for match in self._finditer(text, start, end)])


# Letters together, digits together, anything else by itself: the field's standard for CADEC and ShARe.
words = RegexTokenizer(r"[^\W\d_]+|\d+|\S")
whitespace = RegexTokenizer(r"\S+")

TOKENIZERS: dict[str, Tokenizer] = {"words": words, "whitespace": whitespace}


_LINE = re.compile(r"[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")  # ends of lines as `str.splitlines` has them
_SINGLE_BREAKS = frozenset(["\n", "\r\n", "\r", "\x85", "\u2028"])

_WIDTHS = range(45, 131)  # characters, of a page or a terminal
_SLACK = 0.2  # lines broken to fit differ in length by the word that did not
_MOST, _FEW = 0.75, 0.1  # of lines: headers, lists and masked names disturb the picture
_NEARLY = 0.7  # of the width: a line that is shorter had room for the next word, so it was broken on purpose

_BULLET = re.compile(r"[-*•·▪‣–—#>]\s")
_NUMBER = re.compile(r"[(\[]?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{1,4})[.)\]]\s")
_HEADER = re.compile(r"[A-Z][A-Za-z]{3,}(?:[ /&][A-Za-z]+){0,5}:|[A-Z][A-Z /&]{3,}:?$")
_STOPS = (".", "!", "?", ":", ";")
_LONG_WORD = 40  # characters: enough to see that a word had no room on the line before


class _Line(NamedTuple):
    start: int
    end: int
    follows: bool  # a single line break parts it from the line before


def units(text: str) -> Iterator[tuple[int, int]]:
    """Stretches [start, end) of `text`, in order, covering all but whitespace and with none at either end."""
    lines = list(_lines(text))
    if not lines:
        return
    width = _fill_width(text, lines)
    start = lines[0].start
    for line, following in pairwise(lines):
        if width is None or not _was_full(text, line, following, width) or _begins_unit(text, start, line, following):
            yield start, line.end
            start = following.start
    yield start, lines[-1].end


def _lines(text: str) -> Iterator[_Line]:
    """Lines that are not blank, without the whitespace around them."""
    last_break = 0  # where the line break after the last line that was not blank begins
    for match in _LINE.finditer(text):
        line = match.group()
        body = line.lstrip()
        if body:
            start = match.end() - len(body)
            yield _Line(start, start + len(body.rstrip()), text[last_break : match.start()] in _SINGLE_BREAKS)
            last_break = match.end()


def _fill_width(text: str, lines: list[_Line]) -> float | None:
    """The width that lines were broken to fit, or None if lines are units.

    The witnesses are lines that end in no stop while the next begins in lower case. They show a text broken to fit if
    their usual length could be a width, most of them are about as long, and hardly any line is longer.
    """
    lengths = [line.end - line.start for line in lines]
    witnesses = [
        length
        for length, line, following in zip(lengths, lines, lines[1:], strict=False)
        if following.follows and text[following.start].islower() and text[line.end - 1] not in _STOPS
    ]
    if not witnesses:
        return None
    width = median(witnesses)
    alike = sum(abs(length - width) <= _SLACK * width for length in witnesses)
    too_long = sum(length > (1 + _SLACK) * width for length in lengths)
    fits = round(width) in _WIDTHS and alike >= _MOST * len(witnesses) and too_long <= _FEW * len(lengths)
    return width if fits else None


def _was_full(text: str, line: _Line, following: _Line, width: float) -> bool:
    """Whether the break between two lines was made to fit the width."""
    if not following.follows:
        return False
    length = line.end - line.start
    if length >= _NEARLY * width:
        return True
    next_word = text[following.start : min(following.end, following.start + _LONG_WORD)].split(None, 1)[0]
    return length + len(next_word) >= width


def _begins_unit(text: str, start: int, line: _Line, following: _Line) -> bool:
    """Whether a line after a full one begins something new: a list item or a section.

    A number in front counts where a list goes on or a sentence has ended: "hepatitis / B. The" breaks anywhere.
    """
    numbered = _NUMBER.match(text, following.start) and (text[line.end - 1] in _STOPS or _NUMBER.match(text, start))
    return bool(numbered or _BULLET.match(text, following.start) or _HEADER.match(text, following.start, following.end))


def rules(text: str) -> list[tuple[int, int]]:
    """A sentence ends at the end of a unit of lines, and within one at a stop that is not an abbreviation's.

    >>> text = "Took 5 mg p.o. b.i.d. for Dr. Smith. No AS. No AR."
    >>> [text[start:end] for start, end in rules(text)]
    ['Took 5 mg p.o. b.i.d. for Dr. Smith.', 'No AS.', 'No AR.']
    """
    sentences = []
    for start, end in units(text):
        for stop in sentence_ends(text, start, end):
            sentences.append((start, stop))
            start = stop
            while text[start].isspace():
                start += 1
        sentences.append((start, end))
    return sentences


class Splitter(Protocol):
    """Finds sentences [start, end): in order, without overlap, covering all but whitespace, none with it at an end.

    Whitespace is what `str.isspace` says, which is also what `\\s` and `str.strip` take for it.
    """

    def __call__(self, text: str) -> list[tuple[int, int]]: ...


_WRITTEN_LINE = re.compile(r"[^\r\n]+")


def lines(text: str) -> list[tuple[int, int]]:
    """A sentence is a line."""
    sentences = []
    for match in _WRITTEN_LINE.finditer(text):
        line = match.group()
        body = line.strip()
        if body:
            start = match.start() + len(line) - len(line.lstrip())
            sentences.append((start, start + len(body)))
    return sentences


SPLITTERS: dict[str, Splitter] = {"rules": rules, "lines": lines}


def segment(
    document: Document,
    splitter: Splitter = SPLITTERS["rules"],
    tokenizer: Tokenizer = TOKENIZERS["words"],
) -> Document:
    """A copy with sentences and tokens, or the document itself where it has them already."""
    if document.sentences is not None:
        return document
    text = document.text
    sentences = tuple(Sentence(start, end, tokenizer(text, start, end)) for start, end in splitter(text))
    return document.replace(sentences=sentences)
