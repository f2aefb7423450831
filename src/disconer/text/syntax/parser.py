"""What a parser is, and what it gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from disconer.text.syntax.tree import Words


@dataclass(frozen=True, slots=True)
class Parse:
    """What a parser made of a sentence: words as it has them, their heads (-1 for a root) and relations.

    Nothing of it is checked yet; see `alignment.on_words`.
    """

    forms: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unparsed:
    """No tree, and why not.

    lasting: the sentence is the reason, so that asking again is of no use; else it is the parser, which may recover.
    """

    reason: str
    lasting: bool = True


class Identity(NamedTuple):
    """What decides the trees that a parser gives: two parsers with the same identity give the same."""

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
        """What the cache keeps trees under; None: they are not worth keeping."""
        ...

    def parse(self, sentences: Sequence[Words]) -> Iterator[Parse | Unparsed]:
        """An answer for each sentence, in their order, as soon as it is there."""
        ...
