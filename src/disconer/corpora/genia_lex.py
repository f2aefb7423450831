"""GENIA's notation for coordinations, and how their members are found in the text.

In "T and B lymphocytes" GENIA annotates two cell types with one element and marks the pieces in it:

    <cons lex="(AND T_lymphocyte B_lymphocyte)" sem="(AND G#cell_type G#cell_type)">
      <cons lex="T*">T</cons> and <cons lex="B*">B</cons> <cons lex="*lymphocyte">lymphocytes</cons></cons>

`lex` names the members, `sem` their types in the same order, and a star shows where a piece is continued.
A member is found as a sequence of pieces, in the order of the text, that spells its name. Where the pieces
do not (a name in the singular, a word that no element encloses or that belongs to a longer piece), single
words of the text may take part. A member that cannot be spelled even so is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from disconer.core.types import Fragment, normalise
from disconer.text import TOKENIZERS


class Member(NamedTuple):
    """One of the terms that a coordination names; `lex` is empty if it is unknown."""

    lex: str
    sem: str


class Piece(NamedTuple):
    """A stretch [start, end) of the text and what it is called in a member's name."""

    start: int
    end: int
    spelling: str


def is_coordination(sem: str) -> bool:
    return sem.startswith("(")


def read_members(lex: str, sem: str) -> list[Member]:
    """The members of a coordination, however its operators (AND, OR, BUT_NOT, …) are nested.

    >>> read_members("(OR a_c (AND b_c (x)_c))", "(OR G#virus (AND G#tissue G#virus))")
    [Member(lex='a_c', sem='G#virus'), Member(lex='b_c', sem='G#tissue'), Member(lex='(x)_c', sem='G#virus')]
    """
    names, types = lex.split(), sem.split()
    if len(names) != len(types):  # a stray blank: which name has which type is unknown
        names = [""] * len(types)
    members = []
    for name, type_ in zip(names, types, strict=True):
        if not type_.startswith("("):  # else an operator
            bare = type_.rstrip(")")
            # Only `sem` shows how many brackets close here: names have brackets of their own.
            for _ in range(len(type_) - len(bare)):
                name = name.removesuffix(")")
            members.append(Member(name, bare))
    return members


def find_members(
    members: Sequence[Member], text: str, span: Fragment, pieces: Sequence[Piece]
) -> list[tuple[Fragment, ...] | None]:
    """The fragments of each member of a coordination that covers `span`, None where its name cannot be spelled.

    pieces: the elements inside the coordination, with their `lex` as spelling.
    """
    marked = [piece._replace(spelling=spell(piece.spelling)) for piece in pieces]
    found: list[tuple[Fragment, ...] | None] = []
    for member in members:
        name = spell(member.lex)
        ways = list(_ways(name, marked)) or list(_ways(name, [*marked, *_words(text, span, pieces)]))
        found.append(_best(ways, text, found) if ways else None)
    return found


def spell(lex: str) -> str:
    """A name as it is compared: without the stars at its ends, blanks, and case.

    >>> spell("*kappa_B_site*")
    'kappabsite'
    """
    return lex.strip("*_ ").replace("_", "").replace(" ", "").lower()


def _ways(name: str, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    """Every sequence of pieces, each after the one before it, that spells `name`."""
    pieces = [piece for piece in pieces if piece.spelling]

    def complete(spelled: int, end: int) -> Iterator[tuple[Piece, ...]]:
        if spelled == len(name):
            yield ()
            return
        for piece in pieces:
            if piece.start >= end and name.startswith(piece.spelling, spelled):
                for rest in complete(spelled + len(piece.spelling), piece.end):
                    yield (piece, *rest)

    return complete(0, 0) if name else iter(())


def _best(
    ways: Sequence[tuple[Piece, ...]], text: str, taken: Sequence[tuple[Fragment, ...] | None]
) -> tuple[Fragment, ...]:
    """The fragments of the most plausible way: of whole pieces, close together, early.

    "HS I, IV, and V": HS_IV is HS + IV, not HS + I + V. "GATA-1 and -2 or GATA-1 and -3 gene products": the
    first GATA-1 gene product takes the first GATA-1, the second takes the next: no two members have the same fragments.
    """

    def rank(way: tuple[Piece, ...]) -> tuple[bool, int, int, list[int]]:
        fragments = _fragments(way, text)
        return fragments in taken, len(way), len(fragments), [piece.start for piece in way]

    return _fragments(min(ways, key=rank), text)


def _fragments(way: tuple[Piece, ...], text: str) -> tuple[Fragment, ...]:
    return normalise([(piece.start, piece.end) for piece in way], text)


def _words(text: str, span: Fragment, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The words of a coordination, cut where pieces begin and end, under each spelling they may have in a name."""
    cuts = sorted({*span, *(piece.start for piece in pieces), *(piece.end for piece in pieces)})
    for start, end in pairwise(cuts):
        for word in TOKENIZERS["words"](text, start, end):
            for spelling in _singulars(text[word.start : word.end].lower()):
                yield Piece(word.start, word.end, spelling)


def _singulars(word: str) -> set[str]:
    """A word and what it could be the plural of: names are in the singular.

    >>> sorted(_singulars("antibodies"))
    ['antibodi', 'antibodie', 'antibodies', 'antibody']
    """
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    if word.endswith("ies"):
        forms.add(word.removesuffix("ies") + "y")
    return forms - {""}
