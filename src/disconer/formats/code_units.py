"""Between characters and UTF-16 code units, which Java and JavaScript count."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Literal

from disconer.core.derived import surface_fits
from disconer.core.ledger import Ledger

Offsets = Literal["characters", "utf-16"]  # what the offsets of a source count
FIT = "The offsets fit if they count UTF-16 units: convert them (disconer convert SRC OUT --offsets utf-16)."
BETWEEN = "offsets within a character, moved before it"


class CodeUnits:
    """Offsets into one text. A character beyond U+FFFF is two units; an offset between the two is moved before it.

    >>> units = CodeUnits("a😀b")
    >>> units.unit(2), units.character(3), units.character(2)
    (3, 2, 1)
    """

    def __init__(self, text: str) -> None:
        self._wide = [place for place, character in enumerate(text) if character > "\uffff"]
        self._wide_units = [place + number for number, place in enumerate(self._wide)]

    def unit(self, character: int) -> int:
        """The offset in units of an offset in characters."""
        return character + bisect_right(self._wide, character - 1)

    def character(self, unit: Any) -> Any:
        """The offset in characters of an offset in units; anything but a whole number is returned as it is."""
        return unit - bisect_right(self._wide_units, unit - 1) if type(unit) is int else unit


def to_characters(text: str, ledger: Ledger) -> Callable[[Any], Any]:
    """A function from an offset that was read to one in characters: itself, unless offsets count UTF-16 units."""
    if not ledger.in_utf16:
        return _unchanged
    units = CodeUnits(text)

    def character(offset: Any) -> Any:
        found = units.character(offset)
        if type(offset) is int and units.unit(found) != offset:
            ledger.repaired(BETWEEN)
        return found

    return character


def _unchanged(offset: Any) -> Any:
    return offset


def advice(pairs: Sequence[tuple[Any, Any]], text: str, surface: Any = None) -> str | None:
    """What to do about offsets that only fit if they count UTF-16 units; None if that does not explain them."""
    if text.isascii() or not all(type(offset) is int for pair in pairs for offset in pair):
        return None
    units = CodeUnits(text)
    counted = [(units.character(start), units.character(end)) for start, end in pairs]
    return FIT if not _fit(pairs, text, surface) and _fit(counted, text, surface) else None


def _fit(pairs: Sequence[tuple[int, int]], text: str, surface: Any) -> bool:
    inside = all(0 <= start < end <= len(text) for start, end in pairs)
    return inside and (not isinstance(surface, str) or surface_fits(pairs, text, surface))
