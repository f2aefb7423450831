"""From the scores of a grid to entities with scores of their own. No torch here.

Every runtime uses this. The score of an entity is the probability that every decision it depends on is right, assuming
that they are independent; it is an entity if that is above the threshold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from disconer.nn.reader import Floats, Ints
from disconer.nn.windows import Found
from disconer.text.alignment import Range

Decoding = Literal["envelopes", "paths"]  # first and last word, then what is between them; or links all along

MOST_GAPPED = 500  # entities of a label with a gap, in a window: more come only of a model that has not learnt anything
MOST_PATHS = 16  # between two words: more come only of a model that has not learnt anything
AFTER_LABELS = 3  # scores after those of the labels: of a link, of an entity without a gap, of one with a gap

Links = dict[int, list[tuple[int, float]]]  # of each word, the words before it that lead to it, and how likely


@dataclass(frozen=True, slots=True)
class Envelopes:
    """Pairs of words that may be the first and the last of an entity. E of them.

    row: the window.  first, last: words.  label: by number.  Shape: (E,)
    probability: of the label.  whole, gapped: if it is an entity, of one without a gap, and with.  Shape: (E,)
    """

    row: Ints
    first: Ints
    last: Ints
    label: Ints
    probability: Floats
    whole: Floats
    gapped: Floats


@dataclass(frozen=True, slots=True)
class Steps:
    """Pairs of words that may follow one another in an entity.  Shape: (L,) each"""

    row: Ints
    word: Ints
    following: Ints
    probability: Floats


def read_entities(
    envelopes: Envelopes, steps: Steps, labels: Sequence[str], *, n_rows: int, threshold: float, decoding: Decoding
) -> list[list[Found]]:
    """The entities of each window."""
    found: list[list[Found]] = [[] for _ in range(n_rows)]
    if decoding == "envelopes":
        _read_whole(envelopes, labels, found, threshold)
        sure = envelopes.probability * envelopes.gapped
        possible = np.flatnonzero((sure > threshold) & (envelopes.last > envelopes.first + 1))
    else:
        sure = envelopes.probability
        possible = np.flatnonzero(sure > threshold)
    if not len(possible):
        return found
    links = _links_by_row(steps, np.unique(envelopes.row[possible]), threshold)
    columns = (envelopes.row, envelopes.first, envelopes.last, envelopes.label, sure)
    for row, first, last, label, probability in zip(*(column[possible].tolist() for column in columns), strict=True):
        for ranges, score in _paths(first, last, links.get(row, {}), probability, threshold):
            if decoding == "paths" or len(ranges) > 1:
                found[row].append(Found(labels[label], ranges, score))
    return [without_parts(own) for own in found] if decoding == "envelopes" else found


LikelyPair = tuple[tuple[int, int], int, Sequence[float]]  # first and last word, number of a label, all probabilities


def read_window(
    likely: Iterable[LikelyPair], labels: Sequence[str], *, threshold: float, decoding: Decoding
) -> list[Found]:
    """The entities of one window, as `read_entities` finds them.

    likely: pairs of words with what they may be: a label, or (the number after the last label) a link.
    """
    least, by_path = float(np.float32(threshold)), decoding == "paths"
    found: list[Found] = []
    possible: list[tuple[int, int, int, float]] = []
    links: Links = defaultdict(list)
    for (first, last), number, probabilities in likely:
        probability, whole, gapped = probabilities[number], *probabilities[-2:]
        if probability <= least:
            continue
        if number == len(labels):
            if last > first:
                links[last].append((first, probability))
            continue
        if not by_path and (score := _product(probability, whole)) > least:
            found.append(Found(labels[number], ((first, last + 1),), score))
        sure = probability if by_path else _product(probability, gapped)
        if sure > least and (by_path or last > first + 1):
            possible.append((first, last, number, sure))
    for first, last, number, sure in possible:
        for ranges, score in _paths(first, last, links, sure, threshold):
            if by_path or len(ranges) > 1:
                found.append(Found(labels[number], ranges, score))
    return without_parts(found) if possible and not by_path else found


def _product(one: float, other: float) -> float:
    """Of two numbers with 32 bits, as arrays of them are multiplied."""
    return float(np.float32(one * other))


def without_parts(found: list[Found]) -> list[Found]:
    """Without near-duplicates: "Systolic … pressure" beside "Systolic … blood pressure", unless it is the likelier one.

    Those are discontinuous entities that are a part of another of their label.
    """
    by_label: defaultdict[str, list[Found]] = defaultdict(list)
    for entity in found:
        if len(entity.ranges) > 1:
            by_label[entity.label].append(entity)
    left_out = {id(part) for gapped in by_label.values() if len(gapped) <= MOST_GAPPED for part in _parts(gapped)}
    return [entity for entity in found if id(entity) not in left_out]


def _parts(entities: list[Found]) -> Iterator[Found]:
    """Those that are a part of one that is as likely or likelier. A part of a part is one of the whole, too."""
    wholes: list[Found] = []
    for entity in sorted(entities, key=lambda one: (-one.score, -sum(end - start for start, end in one.ranges))):
        if any(is_part(entity.ranges, whole.ranges) for whole in wholes):
            yield entity
        else:
            wholes.append(entity)


def is_part(ranges: Sequence[Range], others: Sequence[Range]) -> bool:
    """Whether the words of some ranges are among those of others, which have more.

    >>> is_part(((0, 1), (4, 5)), ((0, 1), (3, 5))), is_part(((0, 1), (4, 5)), ((0, 1), (4, 5)))
    (True, False)
    """
    return ranges != others and all(
        any(first <= start and end <= last for first, last in others) for start, end in ranges
    )


def _read_whole(envelopes: Envelopes, labels: Sequence[str], found: list[list[Found]], threshold: float) -> None:
    """Entities without a gap: their first and last word say all."""
    scores = envelopes.probability * envelopes.whole
    chosen = np.flatnonzero(scores > threshold)
    columns = (envelopes.row, envelopes.first, envelopes.last, envelopes.label, scores)
    for row, first, last, label, score in zip(*(column[chosen].tolist() for column in columns), strict=True):
        found[row].append(Found(labels[label], ((first, last + 1),), score))


def _links_by_row(steps: Steps, rows: Ints, threshold: float) -> dict[int, Links]:
    """Of the windows asked for, the likely links by the word that they lead to.

    What is below the threshold is on no path above it, since a path is as likely as all its links together.
    """
    chosen = np.flatnonzero((steps.probability > threshold) & np.isin(steps.row, rows))
    found: defaultdict[int, Links] = defaultdict(lambda: defaultdict(list))
    columns = (steps.row, steps.word, steps.following, steps.probability)
    for row, word, following, probability in zip(*(column[chosen].tolist() for column in columns), strict=True):
        found[row][following].append((word, probability))
    return found


def _paths(
    first: int, last: int, links: Links, probability: float, threshold: float
) -> list[tuple[tuple[Range, ...], float]]:
    """The likeliest paths of links from a word to another, as ranges of words, with what they leave of a probability.

    Word by word, the best paths to each extend the best paths to those before it, so their number stays bounded.
    """
    best: dict[int, list[tuple[float, tuple[int, ...]]]] = {first: [(probability, (first,))]}
    for word in range(first + 1, last + 1):
        reached = [
            (so_far * link, (*path, word))
            for before, link in links.get(word, ())
            for so_far, path in best.get(before, ())
            if so_far * link > threshold
        ]
        if reached:
            best[word] = sorted(reached, reverse=True)[:MOST_PATHS]
    return [(_ranges(path), score) for score, path in best.get(last, ())]


def _ranges(words: tuple[int, ...]) -> tuple[Range, ...]:
    """
    >>> _ranges((2, 3, 7))
    ((2, 4), (7, 8))
    """
    ranges: list[Range] = []
    for word in words:
        if ranges and ranges[-1][1] == word:
            ranges[-1] = (ranges[-1][0], word + 1)
        else:
            ranges.append((word, word + 1))
    return tuple(ranges)


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
