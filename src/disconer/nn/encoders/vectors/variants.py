"""The forms under which a word may stand in a table of vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DIGIT = re.compile(r"\d")
_FOLDED = ("0", "#")  # what tables write for a digit, if they fold them; word2vec's Google News has "#"


def variants(word: str) -> Iterator[str]:
    """A word as it is, lower-cased, and both with their digits folded: the order in which a table is asked.

    >>> list(variants("IL6"))
    ['IL6', 'il6', 'IL0', 'il0', 'IL#', 'il#']
    """
    lower = word.lower()
    forms = (word,) if lower == word else (word, lower)
    yield from forms
    if _DIGIT.search(word):
        for digit in _FOLDED:
            for form in forms:
                folded = _DIGIT.sub(digit, form)
                if folded != form:
                    yield folded
