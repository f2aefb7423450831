"""Sentences for the tests of heads: random entities for property tests, and windows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from disconer import Document
from disconer.evaluate.check import WordEntity
from disconer.nn.reader import Subwords
from disconer.nn.windows import Window, windows
from disconer.text import segment
from disconer.text.alignment import TokenEntity, align, merge_adjacent

X, Y = "X", "Y"
LABELS = (X, Y)
N_WORDS = 10


@st.composite
def sentences(draw: st.DrawFn) -> list[WordEntity]:
    """Entities of up to three fragments out of a few runs of words, so that many share one or have it in between.

    Now and then two fragments have no word between them.
    """
    cuts = sorted(draw(st.sets(st.integers(0, N_WORDS), min_size=2, max_size=8)))
    runs = st.sampled_from(list(pairwise(cuts)))
    found = []
    for _ in range(draw(st.integers(0, 6))):
        ranges = draw(st.sets(runs, min_size=1, max_size=3))
        joined = ranges if draw(st.integers(0, 9)) == 0 else merge_adjacent(ranges)
        found.append((draw(st.sampled_from([X, X, Y])), tuple(sorted(joined))))
    return found


# A sentence of words of one character, two apart, in windows


def words(*ranges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The characters of words."""
    return tuple((2 * first, 2 * end - 1) for first, end in ranges)


def cut(document: Document, max_subwords: int) -> tuple[list[Window], list[TokenEntity]]:
    """The windows of a document of one sentence, each word a subword, and its entities."""
    document = segment(document)
    [sentence], [entities] = document.sentences or (), align(document)[0]
    n_words = len(sentence.tokens)
    subwords = Subwords(np.arange(n_words), np.arange(n_words), np.arange(1, n_words + 1))
    return windows(sentence, subwords, max_subwords=max_subwords), entities
