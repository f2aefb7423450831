"""A text from passages that each say where they stand."""

from __future__ import annotations

from collections.abc import Iterable

from disconer.core.errors import BadInput, Where

MAX_GAP = 2**20  # characters; a wider gap is a damaged offset, and filling it would eat the memory


def lay_out(pieces: Iterable[tuple[int, str]], where: Where) -> str:
    """The text in which each (offset, piece) stands at its offset, gaps filled with spaces.

    >>> lay_out([(0, "Title."), (7, "Abstract.")], Where())
    'Title. Abstract.'
    """
    parts: list[str] = []
    length = 0
    for offset, piece in pieces:
        if not piece:
            continue
        if not length <= offset <= length + MAX_GAP:
            raise BadInput(
                "bad-offset",
                "Passages overlap or are out of order" if offset < length else "A passage stands far behind the last",
                where=Where(where.path, where.line, offset, where.document),
                got=f"a passage at {offset} where the text so far ends at {length}",
                expected=f"an offset from {length} to {length + MAX_GAP}",
                fix="Check that offsets count characters from the document's start.",
            )
        parts += [" " * (offset - length), piece]
        length = offset + len(piece)
    return "".join(parts)


def holds(text: str, pieces: Iterable[tuple[int, int]]) -> bool:
    """Whether (offset, length) pieces laid out give all of `text`: in order, nothing but spaces between and after."""
    end = 0
    for offset, length in pieces:
        if length == 0:
            continue
        if not 0 < length <= len(text) - offset or offset < end or text[end:offset].strip(" "):
            return False
        end = offset + length
    return end == len(text)
