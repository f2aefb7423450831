"""Random entities of a sentence, for the property tests of heads."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from disconer.evaluate.check import WordEntity
from disconer.text.alignment import merge_adjacent

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
