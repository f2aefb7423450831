"""Grapheme clusters (characters of several code points), their width, and the visual order of right-to-left text.

A simplification of Unicode's grapheme clusters, without rules that need a table of scripts. They decide where text
may be cut for drawing, and how many columns of a fixed-width font it takes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from wcwidth import wcwidth

TAB_WIDTH = 4

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"  # makes the character before it an emoji, two columns wide
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)  # two of them are a flag
_MOST_FLAGS = 32  # in a row; letters after these stand alone, as looking back to the first for each takes too long


def is_boundary(text: str, offset: int) -> bool:
    """Whether text may be cut here without cutting a character in two.

    >>> [is_boundary("e\u0301a", offset) for offset in range(4)]
    [True, False, True, True]
    """
    if not 0 < offset < len(text):
        return True
    before, after = text[offset - 1], text[offset]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if _stands_alone(before):
        return True
    if before == _JOINER or _joins_the_one_before(after):
        return False
    return not (_is_flag_letter(after) and _flag_letters_before(text, offset) % 2)


def outward(text: str, start: int, end: int) -> tuple[int, int]:
    """The smallest range of whole characters that contains [start, end)."""
    while not is_boundary(text, start):
        start -= 1
    while not is_boundary(text, end):
        end += 1
    return start, end


def columns(text: str) -> list[int]:
    """The column of each code point in a fixed-width font, and last the total width.

    Code points within a character have the column of the character.

    >>> columns("a日e\u0301!")
    [0, 1, 3, 3, 4, 5]
    """
    if text.isascii() and "\t" not in text:
        return list(range(len(text) + 1))
    places, start, width = [], 0, 0  # of the character that is being read
    for offset, character in enumerate(text):
        if is_boundary(text, offset):
            start, width = start + width, _width(character)
        elif character == _EMOJI_STYLE:
            width = 2
        else:
            width = max(width, _width(character))
        places.append(start)
    return [*places, start + width]


@lru_cache(maxsize=10_000)
def _width(character: str) -> int:
    if character == "\t":
        return TAB_WIDTH
    if _joins_the_one_before(character) and not _is_skin_tone(character):
        return 0
    return 2 if _is_flag_letter(character) else max(1, wcwidth(character))  # also one where wcwidth says 0 or -1


@lru_cache(maxsize=10_000)
def _joins_the_one_before(character: str) -> bool:
    """Accents, vowel signs, joiners and other invisible characters."""
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc", "Cf")
        or _is_skin_tone(character)
        or ord(character) in _HANGUL_VOWELS_AND_FINALS
    )


def _stands_alone(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Zl", "Zp")


def _is_skin_tone(character: str) -> bool:
    return ord(character) in _SKIN_TONES


def _is_flag_letter(character: str) -> bool:
    return ord(character) in _FLAG_LETTERS


def _flag_letters_before(text: str, offset: int) -> int:
    """At most twice `_MOST_FLAGS`."""
    n_letters = 0
    while n_letters < min(offset, 2 * _MOST_FLAGS) and _is_flag_letter(text[offset - 1 - n_letters]):
        n_letters += 1
    return n_letters


# Blocks of right-to-left scripts, and characters that change the direction.
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def has_right_to_left(text: str) -> bool:
    return not text.isascii() and bool(_RIGHT_TO_LEFT.search(text))


def runs_right_to_left(text: str) -> bool:
    """Whether a line runs from right to left, decided by its first letter."""
    return has_right_to_left(text) and bool(_of_letters(text))


def visual_order(parts: Sequence[str]) -> list[int]:
    """The parts of a line in visual order, from left to right.

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
    """Replace each unknown by the preceding value."""
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
