"""The labels of words as one sequence: which may come next, from entities to labels and back, and what is lost.

Each word has a label for each entity that it belongs to, and then END. A label is a mark and an entity label: B- for
the first of several words, I- for those in the middle, L- for the last, U- for an entity of one word. The labels of a
word are in the order of their entities: those that start earlier come first, and of those that start together the
longer ones. So the first labels of a word continue the entities that are open, one by one, in the order in which they
were opened, and which label belongs to which entity is never in doubt: any continuous entities can be written, nested
or crossing, of one label or of several.

Only labels that can be read are valid: an open entity must go on or end, no entity is left open at the end of the
sentence, and a word has at most a given number of labels. The oracle writes as many entities as can be written so.
No torch here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from disconer.evaluate.check import Reach, WordEntity
from disconer.nn.reader import Bools
from disconer.text.alignment import Range

END = 0  # of the labels of a word
BEGIN, INSIDE, LAST, SINGLE = range(4)
MARKS = "BILU"
NONE = -1

Entity = tuple[int, Range]  # the number of its label, and its words


def number_of(mark: int, label: int, n_labels: int) -> int:
    return 1 + mark * n_labels + label


def parse(number: int, n_labels: int) -> tuple[int, int]:
    """The mark and the entity label of a label other than END.

    >>> parse(number_of(LAST, 1, 5), 5) == (LAST, 1)
    True
    """
    return divmod(number - 1, n_labels)


def label_names(labels: Sequence[str]) -> tuple[str, ...]:
    """All labels of words, by number.

    >>> label_names(["Drug"])
    ('end', 'B-Drug', 'I-Drug', 'L-Drug', 'U-Drug')
    """
    return "end", *(f"{mark}-{label}" for mark in MARKS for label in labels)


class Alphabet(NamedTuple):
    """The number of entity labels, and how many labels a word has at most."""

    n_labels: int
    most: int

    @property
    def size(self) -> int:
        """How many labels of words there are, with END."""
        return 1 + len(MARKS) * self.n_labels


class State(NamedTuple):
    """A place in the sequence.

    word: the word at hand.
    open: labels of the entities that started before it and go on here, in their order.
    ahead: labels of those that go on after it, as far as they are known.
    written: labels that it has so far.
    single: the last entity of this word alone.
    """

    word: int = 0
    open: tuple[int, ...] = ()
    ahead: tuple[int, ...] = ()
    written: int = 0
    single: int = NONE

    def choice(self, n_words: int, alphabet: Alphabet) -> int:
        """Which labels may come next: a row of `valid_labels`."""
        goes_on = self.word + 1 < n_words
        if self.written < len(self.open):
            return 2 * self.open[self.written] + goes_on
        room = self.written < alphabet.most
        singles = self.single + 1 if room else alphabet.n_labels
        begins = room and goes_on and self.single == NONE
        return 2 * (alphabet.n_labels + singles) + begins

    def after(self, number: int, n_labels: int) -> State:
        """The state that a valid label leads to."""
        if number == END:
            return State(self.word + 1, self.ahead)
        mark, label = parse(number, n_labels)
        ahead = (*self.ahead, label) if mark in (BEGIN, INSIDE) else self.ahead
        return State(self.word, self.open, ahead, self.written + 1, label if mark == SINGLE else NONE)


@lru_cache
def valid_labels(n_labels: int) -> Bools:
    """Of each choice, the labels that are valid.  Shape: (choices, labels of words)

    First the choices for each open entity: it ends, or may also go on. Then those after the open ones: END, and
    entities of this word alone from some entity label on, in their order; each without and with entities that begin.
    """
    n_choices = 2 * n_labels + 2 * (n_labels + 1)
    valid = np.zeros((n_choices, Alphabet(n_labels, 1).size), dtype=bool)
    for label in range(n_labels):
        valid[2 * label : 2 * label + 2, number_of(LAST, label, n_labels)] = True
        valid[2 * label + 1, number_of(INSIDE, label, n_labels)] = True
    for first in range(n_labels + 1):
        row = 2 * (n_labels + first)
        valid[row : row + 2, END] = True
        valid[row : row + 2, number_of(SINGLE, first, n_labels) : number_of(SINGLE, n_labels, n_labels)] = True
        valid[row + 1, number_of(BEGIN, 0, n_labels) : number_of(BEGIN, n_labels, n_labels)] = True
    return valid


def write(entities: Iterable[Entity], n_words: int, n_labels: int) -> list[int]:
    """The labels of a sentence; no word may have more than are allowed.

    >>> [label_names("X")[number] for number in write([(0, (0, 2)), (0, (1, 2))], 2, 1)]
    ['B-X', 'end', 'L-X', 'U-X', 'end']
    """
    words: list[list[int]] = [[] for _ in range(n_words)]
    for label, (first, end) in sorted(entities, key=lambda one: (one[1][0], -one[1][1], one[0])):
        for word in range(first, end):
            mark = (SINGLE if word == first else LAST) if word + 1 == end else BEGIN if word == first else INSIDE
            words[word].append(number_of(mark, label, n_labels))
    return [number for own in words for number in (*own, END)]


class Written(NamedTuple):
    """An entity, and where its labels are in the sequence."""

    label: int
    words: Range
    places: tuple[int, ...]


def read(numbers: Iterable[int], n_labels: int) -> list[Written]:
    """The entities of a valid sequence, in the order of their ends."""
    found: list[Written] = []
    ahead: list[Written] = []
    opened: Iterator[Written] = iter(())
    word = 0
    for place, number in enumerate(numbers):
        if number == END:
            word, opened, ahead = word + 1, iter(ahead), []
            continue
        mark, label = parse(number, n_labels)
        before = next(opened) if mark in (INSIDE, LAST) else Written(label, (word, word), ())
        entity = Written(label, (before.words[0], word + 1), (*before.places, place))
        (ahead if mark in (BEGIN, INSIDE) else found).append(entity)
    return found


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
