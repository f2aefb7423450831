"""Between characters and UTF-16 code units, which Java and JavaScript count."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any


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
