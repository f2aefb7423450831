"""Redundant fields of an entity in data, which follow from its fragments: its text, its start and its end.

Where they contradict the fragments, one of the two is wrong, and only the user can tell which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disconer.core.errors import BadInput, excerpt
from disconer.core.types import joined_text

Pairs = Sequence[tuple[int, int]]


def surface_fits(pairs: Pairs, text: str, surface: str) -> bool:
    """Whether `surface` is the text at `pairs`, in the data's order or the text's, whatever the whitespace."""
    found = joined_text(text, pairs)
    if found == surface or found.split() == surface.split():
        return True
    return joined_text(text, sorted(pairs)).split() == surface.split()


def check_surface(pairs: Pairs, text: str, surface: str) -> None:
    """An error if `surface` is not the text at `pairs`."""
    if not surface_fits(pairs, text, surface):
        raise BadInput(
            "text-mismatch",
            "The text at these offsets differs from the text of the entity",
            got=excerpt(joined_text(text, pairs)),
            expected=excerpt(surface),
            fix="Check that the text is the one that was annotated (a lost BOM or CR shifts every offset).",
        )


def check_extent(pairs: Pairs, start: Any, end: Any) -> None:
    """An error if start and end are not those of all fragments together. None: the data does not repeat it."""
    first, last = min(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    said = (first if start is None else start, last if end is None else end)
    if said != (first, last):
        raise BadInput(
            "bad-offset",
            "The start and end of this entity are not those of its fragments",
            got=f"[{said[0]!r:.20}, {said[1]!r:.20})",
            expected=f"[{first}, {last})",
            fix="Correct them, or leave out start and end: they follow from the fragments.",
        )
