"""Between characters and tokens: entities as token ranges of a sentence, and back; what of them is visible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, Fragment

_new = tuple.__new__  # what `Fragment(…)` comes down to, at half the time

Range = tuple[int, int]  # token positions [first, last + 1) within a sentence


@dataclass(frozen=True, slots=True)
class TokenEntity:
    """An entity seen from its sentence: ranges of tokens, sorted, none adjacent to the next."""

    label: str
    ranges: tuple[Range, ...]
    entity: Entity

    @property
    def key(self) -> tuple[str, tuple[Range, ...]]:
        """Its label and ranges, which identify it in its sentence."""
        return self.label, self.ranges


@dataclass(frozen=True, slots=True)
class Unaligned:
    """An entity that tokens of one sentence cannot express, and why."""

    entity: Entity
    reason: str


CROSSES = "crosses a sentence boundary"
INSIDE = "starts or ends inside a token"


def align(document: Document) -> tuple[list[list[TokenEntity]], list[Unaligned]]:
    """The entities of each sentence as token ranges, and those that have none. The document must have sentences."""
    if document.sentences is None:
        raise ValueError(f"document {document.id!r} has no sentences yet; segment it first")
    starts: dict[int, Range] = {}  # character -> (sentence, token)
    ends: dict[int, Range] = {}
    for number, sentence in enumerate(document.sentences):
        for position, (start, end) in enumerate(sentence.tokens):
            starts[start] = ends[end] = (number, position)
    aligned: list[list[TokenEntity]] = [[] for _ in document.sentences]
    unaligned = []
    for entity in document.entities:
        found = [(starts.get(start), ends.get(end)) for start, end in entity.fragments]
        if any(None in pair for pair in found) and not _spaced(document.text, entity.fragments):
            # Zero-width characters at an edge belong to no token. Whitespace there is a mistake, which is counted.
            parts = visible_part(document.text, entity.fragments)
            found = [(starts.get(start), ends.get(end)) for start, end in parts]
        places = [(first, last) for first, last in found if first is not None and last is not None]
        if not places or len(places) < len(found):
            unaligned.append(Unaligned(entity, INSIDE))
        elif len({place[0] for pair in places for place in pair}) > 1:
            unaligned.append(Unaligned(entity, CROSSES))
        else:
            number = places[0][0][0]
            ranges = tuple((first[1], last[1] + 1) for first, last in places)
            aligned[number].append(TokenEntity(entity.label, ranges, entity))
    return aligned, unaligned


def to_fragments(ranges: tuple[Range, ...], sentence: Sentence) -> tuple[Fragment, ...]:
    """The characters that token ranges of a sentence cover."""
    tokens = sentence.tokens
    return tuple([_new(Fragment, (tokens[first][0], tokens[end - 1][1])) for first, end in ranges])


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


def _spaced(text: str, fragments: Iterable[tuple[int, int]]) -> bool:
    """Whether a fragment begins or ends with whitespace."""
    return any(text[start].isspace() or text[end - 1].isspace() for start, end in fragments)


def cuts_word(text: str, fragments: Iterable[tuple[int, int]]) -> bool:
    """Whether a fragment begins or ends between two letters or digits.

    >>> cuts_word("75 mg/m2", [(0, 7)]), cuts_word("75 mg/m2", [(0, 8)]), cuts_word("75 mg/m2", [(3, 5), (6, 8)])
    (True, False, False)
    """
    return any(text[place - 1 : place + 1].isalnum() for edges in fragments for place in edges if 0 < place < len(text))


def join_tokens(words: list[str], start: int = 0) -> Iterator[Fragment]:
    """The ranges of words joined by single spaces, the first at `start`."""
    for word in words:
        yield Fragment(start, start + len(word))
        start += len(word) + 1


def merge_adjacent(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Sorted ranges; those that touch or overlap are merged.

    >>> merge_adjacent([(4, 5), (0, 1), (1, 3)])
    ((0, 3), (4, 5))
    """
    merged: list[Range] = []
    for first, end in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return tuple(merged)


def words_of(ranges: Iterable[Range]) -> list[int]:
    """
    >>> words_of([(0, 2), (4, 5)])
    [0, 1, 4]
    """
    return [word for first, end in ranges for word in range(first, end)]
