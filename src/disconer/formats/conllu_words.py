"""CoNLL-U's words, and the tokens that its text shows.

A multiword token (`1-2 don't` over the words `do` and `n't`) is one token, as its words have no offsets of their
own; its head and relation are those of its topmost word, so that what is left is a tree again. Empty nodes
(`1.1`) stand nowhere in the text and are passed over. Both are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.formats.blocks import Block
from disconer.text.syntax.tree import ROOT, depths_of

N_COLUMNS = 10
ROW_ID = re.compile(r"(?P<first>[1-9]\d*)(?:-(?P<last>\d+))?|(?P<empty>\d+\.\d+)")
_FORM, _HEAD, _RELATION, _MISC = 1, 6, 7, 9
_OPEN = "_"


@dataclass(frozen=True, slots=True)
class SurfaceToken:
    """A token as the text shows it, and the words from `first` to `last` that it is made of."""

    form: str
    space_after: bool
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Surface:
    """The tokens of a sentence and, where all are known and form a tree, their heads and relations."""

    tokens: list[SurfaceToken]
    heads: tuple[int, ...] | None = None
    relations: tuple[str, ...] | None = None


def read_surface(block: Block, where: Where, ledger: Ledger) -> Surface:
    """The tokens of a sentence, its comments left out."""
    tokens: list[SurfaceToken] = []
    words: list[list[str]] = []
    for number, line in block:
        if line.startswith("#"):
            continue
        place = Where(where.path, number, document=where.document)
        columns = line.split("\t")
        id = ROW_ID.fullmatch(columns[0])
        if id is None or len(columns) != N_COLUMNS or not columns[_FORM]:
            raise _not_a_row(place, line)
        if id["empty"]:
            ledger.repaired("empty nodes passed over")
            continue
        first = int(id["first"]) - 1
        last = int(id["last"] or id["first"]) - 1
        if first != len(words) or last < first:
            raise _out_of_order(place, columns[0], len(words) + 1)
        ledger.repaired("multiword tokens kept as one", id["last"] is not None)
        if not tokens or first > tokens[-1].last:
            tokens.append(SurfaceToken(columns[_FORM], "SpaceAfter=No" not in columns[_MISC].split("|"), first, last))
        if id["last"] is None:
            words.append(columns)
    if tokens and tokens[-1].last >= len(words):
        raise _out_of_order(place, "the end of the sentence", len(words) + 1)
    return _with_tree(tokens, words, where, ledger)


def _not_a_row(where: Where, line: str) -> BadInput:
    return BadInput(
        "bad-syntax",
        "This is not a row of CoNLL-U",
        where=where,
        got=excerpt(line),
        expected=f"{N_COLUMNS} columns parted by tabs, the first a number such as 1, 1-2 or 1.1, the second not empty",
    )


def _out_of_order(where: Where, got: str, number: int) -> BadInput:
    return BadInput(
        "bad-syntax",
        "The words of a sentence are not numbered one after another",
        where=where,
        got=got,
        expected=f"word {number}",
    )


def _with_tree(tokens: list[SurfaceToken], words: Sequence[list[str]], where: Where, ledger: Ledger) -> Surface:
    open_heads = [columns[_HEAD] == _OPEN for columns in words]
    if all(open_heads):
        return Surface(tokens)
    heads = [_head(columns, len(words), where) for columns in words]
    depths = None if any(open_heads) else depths_of(heads)
    if depths is None:
        ledger.repaired("sentences left without heads, as theirs are incomplete or run in a circle")
        return Surface(tokens)
    owner = {word: place for place, token in enumerate(tokens) for word in range(token.first, token.last + 1)}
    top = [min(range(token.first, token.last + 1), key=lambda word: depths[word]) for token in tokens]
    return Surface(
        tokens,
        tuple(ROOT if heads[word] == ROOT else owner[heads[word]] for word in top),
        tuple(words[word][_RELATION] for word in top),
    )


def _head(columns: list[str], n_words: int, where: Where) -> int:
    head = columns[_HEAD]
    if head == _OPEN:
        return ROOT
    if not head.isdecimal() or int(head) > n_words:
        raise BadInput(
            "bad-syntax",
            "This word has no such head",
            where=where,
            got=f"head {excerpt(head)} of word {columns[0]} {excerpt(columns[_FORM])}",
            expected=f"0 for the root, or a word from 1 to {n_words}",
        )
    return int(head) - 1
