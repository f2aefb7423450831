"""Sentences and tokens. They are immutable and checked once, on construction; offsets are those of `types`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_set = object.__setattr__  # frozen dataclasses are filled through this


class Token(NamedTuple):
    """A word: the character range [start, end) of a document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A range [start, end) of the text with its tokens and, if known, their dependency heads.

    `heads` are positions within the sentence, -1 for a root; `relations` name the arcs.
    """

    start: int
    end: int
    tokens: tuple[Token, ...]
    heads: tuple[int, ...] | None = None
    relations: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        tokens = tuple([token if type(token) is Token else Token(*token) for token in self.tokens])
        _set(self, "tokens", tokens)
        position = self.start
        for start, end in tokens:
            if not position <= start < end <= self.end:
                raise ValueError(
                    f"token [{start}, {end}) is empty, out of order or outside its sentence [{self.start}, {self.end})"
                )
            position = end
        if self.heads is not None:
            _set(self, "heads", tuple(self.heads))
            _check_heads(tuple(self.heads), len(tokens))
        if self.relations is not None:
            _set(self, "relations", tuple(self.relations))
            if len(self.relations) != len(tokens):
                raise ValueError(f"{len(self.relations)} relations for {len(tokens)} tokens")


def _check_heads(heads: tuple[int, ...], n_tokens: int) -> None:
    if len(heads) != n_tokens:
        raise ValueError(f"{len(heads)} heads for {n_tokens} tokens")
    for token, head in enumerate(heads):
        if not isinstance(head, int) or not -1 <= head < n_tokens or head == token:
            raise ValueError(f"token {token} has head {head}; a head is another token 0 to {n_tokens - 1}, or -1")
