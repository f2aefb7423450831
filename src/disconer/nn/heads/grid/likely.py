"""What is taken from a GPU of the grids of a batch: the cells that may matter. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from disconer.nn.heads.grid.reading import Decoding, Envelopes, Steps, read_entities
from disconer.nn.reader import Floats
from disconer.nn.windows import Found


class Likely(NamedTuple):
    """What is above the threshold in the grids of a batch: pairs of words with a label, and links.

    cells: window, first word, last word, number of the label (that after the last label: a link); its probability, and
        those of an entity without a gap and with one. Numbers are small enough to be exact.  Shape: (7, cells)
    """

    cells: Floats
    n_rows: int


def read_likely(likely: Likely, labels: Sequence[str], *, threshold: float, decoding: Decoding) -> list[list[Found]]:
    """The entities of each window."""
    where, scores = likely.cells[:4].astype(np.int64), likely.cells[4:]
    is_link = where[3] == len(labels)
    envelopes = Envelopes(*where[:, ~is_link], *scores[:, ~is_link])
    row, word, following = where[:3, is_link]
    steps = Steps(row, word, following, scores[0, is_link])
    return read_entities(envelopes, steps, labels, n_rows=likely.n_rows, threshold=threshold, decoding=decoding)
