"""Text and entities from the content of a file, with checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from disconer.core.derived import check_extent, check_surface
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Entity, Fragment, normalise

WRONG_TYPE = "wrong-type"
MAX_GAP = 2**20  # characters; a wider gap is a damaged offset, and filling it would exhaust memory


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
                "Passages overlap or are out of order"
                if offset < length
                else "A passage is far after the previous one",
                where=Where(where.path, where.line, offset, where.document),
                got=f"a passage at {offset}, after text that ends at {length}",
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


def build_entity(
    label: str,
    pairs: Sequence[tuple[int, int]],
    text: str,
    *,
    ledger: Ledger,
    path: str,
    line: int | None = None,
    document: str | None = None,
    id: str | None = None,
    score: float | None = None,
    surface: str | None = None,
    extent: tuple[Any, Any] = (None, None),
    fix: str | None = None,
) -> Entity | None:
    """An entity whose offsets fit `text` and whose fragments are normalised, or None if it was skipped as bad.

    pairs: character ranges as the file has them, in its order.
    document: the document's id, for formats that hold many in a file.
    surface: the mention's text in the file, fragments joined by spaces; None if there is none.
    extent: its start and end in the file, of all fragments together; None where the file does not say.
    fix: what to do if offsets or surface do not fit, where the reader knows better than the general advice.
    """
    try:
        _check_types(label, pairs, id, score, surface)
        _check_offsets(pairs, text)
        if extent != (None, None):
            check_extent(pairs, *extent)
        if surface is not None:
            check_surface(pairs, text, surface)
        if not label:
            raise BadInput("bad-syntax", "This entity has no label", fix="Give it one.")
        if score is not None and not 0 <= score <= 1:
            raise BadInput("bad-syntax", "A score must be between 0 and 1", got=str(score))
    except BadInput as error:
        known = error.problem != WRONG_TYPE
        where = Where(path, line, pairs[0][0] if pairs and known else None, document, id if known else None)
        ledger.error(
            BadInput(
                error.problem, error.what, where=where, got=error.got, expected=error.expected, fix=fix or error.fix
            )
        )
        return None
    if len(pairs) == 1:
        return Entity(label, (Fragment(*pairs[0]),), id, score)
    _note_repairs(pairs, text, ledger)
    return Entity(label, normalise(pairs, text), id, score)


def _check_types(label: Any, pairs: Sequence[Any], id: Any, score: Any, surface: Any) -> None:
    """Files may hold any value anywhere. A wrong type here would only fail later, in some writer."""
    if not isinstance(label, str):
        raise _wrong_type("label", label, "a string")
    if id is not None and not isinstance(id, str):
        raise _wrong_type("id", id, "a string")
    if score is not None and type(score) not in (int, float):
        raise _wrong_type("score", score, "a number from 0 to 1")
    if surface is not None and not isinstance(surface, str):
        raise _wrong_type("text", surface, "a string")
    for pair in pairs:
        for offset in pair:
            if type(offset) is not int:
                raise _wrong_type("offset", offset, "a whole number")


def _wrong_type(name: str, value: Any, expected: str) -> BadInput:
    return BadInput(
        WRONG_TYPE,
        f"The {name} of an entity is of the wrong type",
        got=f"{excerpt(value)} ({type(value).__name__})",
        expected=expected,
        fix="Correct it, or skip such entities with --skip-bad.",
    )


def _check_offsets(pairs: Sequence[tuple[int, int]], text: str) -> None:
    if not pairs:
        raise BadInput("bad-syntax", "This entity has no fragment", fix="Give it a start and an end.")
    for start, end in pairs:
        if 0 <= start < end <= len(text) and not text[start:end].isspace():
            continue
        if start > end or start < 0:
            raise BadInput(
                "bad-offset",
                "A fragment ends before it starts" if start > end else "A fragment starts before the text",
                got=f"[{start}, {end})",
                expected="0 <= start < end",
                fix="Correct the offsets, or skip such entities with --skip-bad.",
            )
        if end > len(text):
            raise BadInput(
                "bad-offset",
                "A fragment ends past the end of the text",
                got=f"[{start}, {end})",
                expected=f"an end of at most {len(text)}",
                fix="Check that text and annotations belong together, and that offsets count characters, not bytes.",
            )
        raise BadInput(
            "empty-fragment",
            "A fragment is empty" if start == end else "A fragment is only whitespace",
            got=f"[{start}, {end})",
            fix="Remove the fragment, or skip such entities with --skip-bad.",
        )


def _note_repairs(pairs: Sequence[tuple[int, int]], text: str, ledger: Ledger) -> None:
    ordered = sorted(pairs)
    if list(pairs) != ordered:
        ledger.repaired("fragments out of order")
    for (_, end), (start, _) in pairwise(ordered):
        if start < end:
            ledger.repaired("fragments overlapping")
        elif start == end:
            ledger.repaired("fragments touching")
        elif text[end:start].isspace():
            ledger.repaired("fragments split at whitespace")


NAMELESS = "fields of entities without an id"


class Gathered:
    """Entities in the order of the file, each id once. `beyond` holds, by id, fields that `Entity` does not have."""

    def __init__(self, where: Where, ledger: Ledger) -> None:
        self.entities: list[Entity] = []
        self.beyond: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._where, self._ledger = where, ledger

    def add(self, entity: Entity, fields: dict[str, Any]) -> None:
        if entity.id in self._seen:
            self._ledger.error(
                BadInput(
                    "duplicate-id",
                    "Two entities of a document have the same id",
                    where=Where(self._where.path, self._where.line, entity.start, self._where.document, entity.id),
                    fix="Give each its own, or keep only the first with --skip-bad.",
                )
            )
            return
        self.entities.append(entity)
        if entity.id is None:
            self._ledger.lost(NAMELESS, len(fields))
            return
        self._seen.add(entity.id)
        if fields:
            self.beyond[entity.id] = fields
