"""What a head finds. No torch here."""

from __future__ import annotations

from typing import NamedTuple

from disconer.text.alignment import Range


class Found(NamedTuple):
    """An entity that a head reads off a window: label, token ranges by position in the window, score."""

    label: str
    ranges: tuple[Range, ...]
    score: float
