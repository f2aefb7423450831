"""A text as spaCy has it: words, each followed by one space or none, that give the text back to the letter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from disconer.core.types import Fragment, Token


@dataclass(slots=True)
class Words:
    """Words in order; `starts` are their offsets."""

    texts: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


def cover(text: str, tokens: Iterable[Token], fragments: Iterable[Fragment]) -> Words:
    """Cut a text into words: its tokens, what stands between them, and a cut wherever a fragment begins or ends.

    A single space after a word belongs to it, as spaCy has it, unless a fragment begins or ends with this space.
    """
    begins: set[int] = set()
    ends: set[int] = set()
    for start, end in fragments:
        begins.add(start)
        ends.add(end)
    kept = {start for start, _ in tokens}
    cuts = kept | {end for _, end in tokens} | begins | ends | {0, len(text)}
    words = Words()
    for start, end in pairwise(sorted(cuts)):
        free = start not in kept and start not in begins and start + 1 not in ends
        if free and text[start] == " " and words.texts:
            words.spaces[-1] = True
            start += 1
        if start < end:
            words.texts.append(text[start:end])
            words.spaces.append(False)
            words.starts.append(start)
    return words
