"""Right-to-left text: where it is, and in which order parts of a line are seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# The blocks of scripts that run from right to left, and the characters that turn text around.
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def has_right_to_left(text: str) -> bool:
    return not text.isascii() and bool(_RIGHT_TO_LEFT.search(text))


def runs_right_to_left(text: str) -> bool:
    """Whether a line does, which its first letter decides."""
    return has_right_to_left(text) and bool(_of_letters(text))


def visual_order(parts: Sequence[str]) -> list[int]:
    """The parts of a line from left to right, as they are seen.

    A simplification of Unicode's bidirectional algorithm: a part runs as its first letter does, a number as the
    letters before it, all else as its neighbours do if they agree, otherwise as the line; and the line runs as its
    first letter does. Embeddings and overrides are left out.

    >>> visual_order(["abc", " ", "אב", " ", "גד", " ", "x"])
    [0, 1, 4, 3, 2, 5, 6]
    """
    if not has_right_to_left("".join(parts)):
        return list(range(len(parts)))
    of_line = runs_right_to_left("".join(parts))
    resolved = _resolved(parts, of_line)
    order: list[int] = []
    for run in _runs(resolved):
        backwards = resolved[run[0]] != of_line  # within the line's own order, only the others are turned
        order += reversed(run) if backwards else run
    return order[::-1] if of_line else order


def _of_letters(part: str) -> bool | None:
    """Whether the first letter runs from right to left; None without letters."""
    for character in part:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return None


def _resolved(parts: Sequence[str], of_line: bool) -> list[bool]:
    known: list[bool | None] = []
    letters = of_line  # the last that were seen
    for part in parts:
        own = _of_letters(part)
        letters = letters if own is None else own
        known.append(letters if any(map(str.isdigit, part)) else own)
    before, after = _filled(known, of_line), _filled(known[::-1], of_line)[::-1]
    return [one if one == other else of_line for one, other in zip(before, after, strict=True)]


def _filled(known: Sequence[bool | None], first: bool) -> list[bool]:
    """Each unknown as the one before it."""
    filled: list[bool] = []
    for one in known:
        filled.append(one if one is not None else filled[-1] if filled else first)
    return filled


def _runs(directions: Sequence[bool]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number, direction in enumerate(directions):
        if runs and directions[runs[-1][0]] == direction:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
