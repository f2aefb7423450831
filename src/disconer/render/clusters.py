"""What the eye sees as one character: a letter with its accents, an emoji of several code points, a line's end.

The rules are those of Unicode's grapheme clusters, less what only a table of scripts could tell. They decide
where text may be cut for drawing, and how many columns of a fixed-width font it takes.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

TAB_WIDTH = 4

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"  # makes the character before it an emoji, two columns wide
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)  # two of them are a flag


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
    """Where each code point stands in a fixed-width font, and last the width of the whole.

    Those within a character stand where the character does.

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
    return 2 if unicodedata.east_asian_width(character) in "WF" or _is_flag_letter(character) else 1


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
    first = offset
    while first and _is_flag_letter(text[first - 1]):
        first -= 1
    return offset - first
