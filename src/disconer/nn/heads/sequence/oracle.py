"""From the entities of a sentence to the labels of its words, and what is lost on the way. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from disconer.evaluate.check import Reach, WordEntity
from disconer.nn.heads.sequence.labels import read, write


class Oracle(NamedTuple):
    """The labels of a sentence, by number, and the entities that they leave out."""

    labels: list[int]
    lost: tuple[WordEntity, ...]


def oracle(entities: Iterable[WordEntity], n_words: int, label_numbers: Mapping[str, int], most: int) -> Oracle:
    """The labels make exactly the given entities less those lost.

    most: labels of a word. Where there are more entities, larger ones are preferred.
    """
    keys = list(dict.fromkeys(entities))
    kept = _fitting([key for key in keys if len(key[1]) == 1], n_words, most)
    labels = write(((label_numbers[label], words) for label, (words,) in kept), n_words, len(label_numbers))
    return Oracle(labels, tuple(key for key in keys if key not in kept))


def _fitting(entities: Sequence[WordEntity], n_words: int, most: int) -> set[WordEntity]:
    """Continuous entities of which no word has more than `most`."""
    count = np.zeros(n_words, dtype=np.int64)
    kept = set()
    for entity in sorted(entities, key=_largest_first):
        first, end = entity[1][0]
        if count[first:end].max() < most:
            count[first:end] += 1
            kept.add(entity)
    return kept


def _largest_first(entity: WordEntity) -> tuple[int, WordEntity]:
    first, end = entity[1][0]
    return first - end, entity


DISCONTINUOUS = "is discontinuous"


def crowded(most: int) -> str:
    return f"has a word with more labels than {most} (head.max_labels)"


def sequence_reach(entities: Iterable[WordEntity], n_words: int, most: int) -> Reach:
    """What can be found of the entities of a sentence."""
    keys = list(dict.fromkeys(entities))
    labels = sorted({label for label, _ in keys})
    numbers, lost = oracle(keys, n_words, {label: number for number, label in enumerate(labels)}, most)
    found = frozenset((labels[one.label], (one.words,)) for one in read(numbers, len(labels)))
    return Reach(found, {key: DISCONTINUOUS if len(key[1]) > 1 else crowded(most) for key in lost})
