"""What is asked of the tags of words. No torch here."""

from __future__ import annotations

from typing import NamedTuple

from disconer.nn.reader import Ints

ANY = -1  # in place of a tag: nothing is asked


class Asked(NamedTuple):
    """What tags must be for entities to be there: one stretch of words each, S of them, of at most W words.

    row: the sentence.  Shape: (S,)
    first, end: its words, half-open.  Shape: (S,)
    only: the tag that a word must have, by number; ANY if it may have all.  Shape: (S, W)
    never: a tag that a word must not have; ANY if there is none.  Shape: (S, W)
    """

    row: Ints
    first: Ints
    end: Ints
    only: Ints
    never: Ints
