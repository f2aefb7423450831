"""Tokenizers: from a stretch of text to words with exact offsets."""

from __future__ import annotations

import re
from typing import Protocol

from disconer.core.types import Token

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
