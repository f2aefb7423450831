"""A sentence as parsers see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from disconer.core.types import Sentence

_UNFIT = re.compile("[\ud800-\udfff]")  # half a surrogate pair: no encoding has it
_BLANK = "_"  # stands for a word of nothing but whitespace


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sentence, without any whitespace in them, and whether some text parts each from the next."""

    texts: tuple[str, ...]
    spaces: tuple[bool, ...]

    @classmethod
    def of(cls, text: str, sentence: Sentence) -> Words:
        """The words of a sentence of a document's text."""
        tokens = sentence.tokens
        texts = tuple([_fit(text[start:end]) for start, end in tokens])
        return cls(texts, (*(one.end < next.start for one, next in pairwise(tokens)), *([False] if tokens else [])))

    def __len__(self) -> int:
        return len(self.texts)


def _fit(word: str) -> str:
    """The word as every parser takes it, with all that shows."""
    if word.isascii() and word.isprintable() and " " not in word:
        return word
    return "".join(_UNFIT.sub("\ufffd", word).split()) or _BLANK
