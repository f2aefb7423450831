"""From text to sentences and tokens: sentence splitters, tokenizers, and documents with both."""

from __future__ import annotations

import re
from typing import Literal, Protocol

from disconer.core.errors import DisconerError
from disconer.core.types import Document, Sentence, Token, ordered_sentence
from disconer.text.layout import units
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


SplitterName = Literal["rules", "lines"]


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


# Prose, lists and wrapped lines; data with a sentence per line.
SPLITTERS: dict[str, Splitter] = {"rules": rules, "lines": lines}


def splitter_named(name: str) -> Splitter:
    """The splitter that people call `name`."""
    if name not in SPLITTERS:
        raise DisconerError(f"There is no sentence splitter {name!r}", expected=f"one of {', '.join(SPLITTERS)}")
    return SPLITTERS[name]


def segment(
    document: Document,
    splitter: Splitter = SPLITTERS["rules"],
    tokenizer: Tokenizer = TOKENIZERS["words"],
) -> Document:
    """A copy with sentences and tokens, or the document itself where it has them already."""
    if document.sentences is not None:
        return document
    text = document.text
    # Our own tokenizers need no check, which takes longer than they do.
    made = ordered_sentence if tokenizer in TOKENIZERS.values() else Sentence
    sentences = tuple([made(start, end, tokenizer(text, start, end)) for start, end in splitter(text)])
    return document.replace(sentences=sentences)
