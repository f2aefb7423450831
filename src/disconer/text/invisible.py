"""Characters that nobody sees: no words by themselves, and not at the edges of what a model finds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from disconer.core.types import Fragment

# Soft hyphens, zero-width spaces and joiners, directions of writing, byte order marks: a class of a regular expression.
ZERO_WIDTH = r"\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"

_on_edge = re.compile(rf"[\s{ZERO_WIDTH}\x00-\x1f\x7f-\x9f]").match
_INVISIBLE = frozenset("CMZ")  # categories of Unicode: controls and formats, accents by themselves, spaces


def is_visible(text: str, fragments: Iterable[tuple[int, int]]) -> bool:
    """Whether fragments contain a visible character."""
    return any(
        character.isalnum() or unicodedata.category(character)[0] not in _INVISIBLE
        for start, end in fragments
        for character in text[start:end]
    )


def visible_part(text: str, fragments: Sequence[Fragment]) -> tuple[Fragment, ...]:
    r"""Fragments without invisible characters at their edges; those of nothing else are left out.

    >>> visible_part("\u200bpain\u200b \ufeff", [Fragment(0, 6), Fragment(7, 8)])
    (Fragment(start=1, end=5),)
    """
    if all(text[start].isalnum() and text[end - 1].isalnum() for start, end in fragments):
        return tuple(fragments)  # as nearly all are
    parts = []
    for start, end in fragments:
        while start < end and _on_edge(text, start):
            start += 1
        while start < end and _on_edge(text, end - 1):
            end -= 1
        if start < end:
            parts.append(Fragment(start, end))
    return tuple(parts)
