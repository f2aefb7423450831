"""What a parser is, and the dependency trees that it returns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

from disconer.core.sentence import Sentence

_UNFIT = re.compile("[\ud800-\udfff]")  # half a surrogate pair: no encoding has it
_BLANK = "_"  # stands for a word of nothing but whitespace


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sentence, without whitespace inside them, and whether there is text between each and the next."""

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
    """The word in a form that every parser accepts, with all visible characters."""
    if word.isascii() and word.isprintable() and " " not in word:
        return word
    return "".join(_UNFIT.sub("\ufffd", word).split()) or _BLANK


ROOT = -1

WRONG_COUNT = "the numbers of heads and words differ"
OUT_OF_RANGE = "a head that is not a word of the sentence"
OWN_HEAD = "a word that is its own head"
CIRCLE = "cyclic heads"


class Tree(NamedTuple):
    """The head of each word, -1 for a root, and the relation between the two.

    Several roots are allowed: then it is a forest.
    realigned: the parser cut the text into other words; see `attach`.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    realigned: bool = False

    @property
    def n_roots(self) -> int:
        return self.heads.count(ROOT)


def problem_in(heads: Sequence[int], n_words: int) -> str | None:
    """Why heads are not a tree or forest over `n_words` words; None if they are."""
    if len(heads) != n_words:
        return WRONG_COUNT
    for word, head in enumerate(heads):
        if not ROOT <= head < n_words:
            return OUT_OF_RANGE
        if head == word:
            return OWN_HEAD
    return None if depths_of(heads) is not None else CIRCLE


def depths_of(heads: Sequence[int]) -> list[int] | None:
    """The distance of each word from its root, or None if heads are cyclic. No head may be out of range.

    >>> depths_of([1, -1, 1, 2]), depths_of([1, 0])
    ([1, 0, 1, 2], None)
    """
    depths: list[int] = [ROOT] * len(heads)
    for word in range(len(heads)):
        path = []
        while word != ROOT and depths[word] == ROOT:
            path.append(word)
            word = heads[word]
            if len(path) > len(heads):
                return None
        depth = ROOT if word == ROOT else depths[word]
        for member in reversed(path):
            depth += 1
            depths[member] = depth
    return depths


@dataclass(frozen=True, slots=True)
class Parse:
    """The raw output of a parser for a sentence: its own words, their heads (-1 for a root) and relations.

    Not checked yet; see `attach.on_words`.
    """

    forms: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unparsed:
    """No tree, and why not.

    lasting: the sentence is the reason, so that a retry is pointless; else it is the parser, which may recover.
    """

    reason: str
    lasting: bool = True


class Identity(NamedTuple):
    """What determines the output of a parser: two parsers with the same identity return the same trees."""

    kind: str
    name: str
    version: str
    content: str = ""


class Parser(Protocol):
    """Finds the dependency trees of sentences.

    name: as the configuration has it.
    """

    @property
    def name(self) -> str: ...

    def identity(self) -> Identity | None:
        """The cache's key; None: trees are not worth caching."""
        ...

    def parse(self, sentences: Sequence[Words]) -> Iterator[Parse | Unparsed]:
        """An answer for each sentence, in order, as soon as it is available."""
        ...
