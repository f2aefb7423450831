"""Capitals, for encoders whose tokenizer drops them: each piece's case, told beside its number. No torch here.

An uncased vocabulary makes one piece of "ALL", the leukaemia, and "all". Encoders of the kind of BERT add a vector to
each piece by its token type, which tells the first text of a pair from the second; we read single texts, so the types
are free to tell the case. An encoder that has learnt them so says it in its configuration: `"token_types": "case"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.nn.reader import Ints

SETTING, BY_CASE = "token_types", "case"

_N_TOLD_APART = 0x20000  # characters; no letter beyond has a case


class Case(IntEnum):
    """How a piece is written."""

    LOWER = 0  # or without letters; also what stands for no text, such as marks around a sentence
    TITLE = 1  # Known
    UPPER = 2  # ALT, B
    MIXED = 3  # mRNA


def reads_case(settings: Mapping[str, Any]) -> bool:
    """Whether an encoder with this configuration takes cases for token types."""
    return settings.get(SETTING) == BY_CASE


def cases(text: str, offsets: Ints) -> Ints:
    """The case of each piece of a text.

    offsets: where pieces start and end.  Shape: (pieces, 2)
    Returns:  Shape: (pieces,)
    """
    kinds = _kinds()[np.minimum(_code_points(text), _N_TOLD_APART - 1)]  # (characters,)
    start, end = offsets.T
    n_upper, n_lower = (_counts(kinds == kind, start, end) for kind in (Case.UPPER, Case.LOWER))
    starts_upper = _counts(kinds == Case.UPPER, start, np.minimum(start + 1, end)) > 0
    is_title = starts_upper & (n_upper == 1)
    return np.select([n_upper == 0, n_lower == 0, is_title], [Case.LOWER, Case.UPPER, Case.TITLE], Case.MIXED)


def _counts(is_counted: NDArray[np.bool_], start: Ints, end: Ints) -> Ints:
    """How many of the characters in each stretch are counted."""
    before = np.concatenate([[0], np.cumsum(is_counted)])  # (characters + 1,)
    counts: Ints = before[end] - before[start]
    return counts


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def _kinds() -> NDArray[np.int8]:
    """Of each character, Case.UPPER, Case.LOWER, or -1 if it has no case."""
    characters = map(chr, range(_N_TOLD_APART))
    return np.array([Case.UPPER if c.isupper() else Case.LOWER if c.islower() else -1 for c in characters], np.int8)
