"""Several tags per word: the entities of a sentence as a set of tags for each word, and back. No torch here.

After the "Multilabel" representation of Tang et al. (2018), where a word has a label for each entity that it belongs
to. The tags are those of BIOHD1234, without O: a word of no entity has none. Each label is written by itself, so
entities of different labels may share words. Within a label, continuous entities have B and I, also where they share
words with others; H and D1 to D4 are for discontinuous ones alone.

A run of a part starts with its B, or with an I that continues nothing, and goes on as long as the next word has its I.
A word with both continues one run and starts another. So of one label it can represent nested entities that end
together, and a continuous one that shares words with discontinuous ones. It loses
- of continuous entities of one label that share words, those that start together, and those that end earlier than
  another that they share words with;
- of discontinuous ones, what BIOHD1234 loses, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import Arrays
from disconer.nn.heads.tagger.parts import WHOLE, Key, join_biohd1234, name_biohd1234, parts_of
from disconer.nn.heads.tagger.reading import EMISSIONS
from disconer.nn.heads.tagger.schemes import BIOHD1234, check_ranges, largest_first, parse
from disconer.nn.reader import Floats
from disconer.nn.scores import sigmoid
from disconer.nn.windows import Found
from disconer.text.alignment import Range, words_of

Tags = Sequence[Collection[str]]  # of each word
Run = tuple[str, Range]  # a part and its words


class TagSets(NamedTuple):
    """A sentence in sets of tags, and the entities that they leave out."""

    tags: tuple[frozenset[str], ...]
    lost: tuple[Key, ...]


class Multilabel:
    """The scheme. See above."""

    name = "multilabel"

    def tags(self, labels: Sequence[str]) -> tuple[str, ...]:
        return BIOHD1234.tags(labels)[1:]

    def encode(self, entities: Iterable[Key], n_words: int) -> TagSets:
        """The tags of a sentence. They decode to the given entities less those lost, each once.

        >>> [sorted(one) for one in MULTILABEL.encode([("A", ((0, 1), (2, 3))), ("B", ((1, 3),))], 3).tags]
        [['D4B-A'], ['B-B'], ['D2B-A', 'I-B']]
        """
        wanted = list(dict.fromkeys(entities))
        check_ranges(wanted, n_words)
        sets: list[set[str]] = [set() for _ in range(n_words)]
        kept: set[Key] = set()
        for label in dict.fromkeys(label for label, _ in wanted):
            own = [entity for entity in wanted if entity[0] == label]
            runs, made = _most(own)
            kept.update(made)
            for part, (first, end) in runs:
                for word in range(first, end):
                    sets[word].add(f"{part}{'B' if word == first else 'I'}-{label}")
        return TagSets(tuple(map(frozenset, sets)), tuple(entity for entity in wanted if entity not in kept))

    def decode(self, tags: Tags) -> list[Key]:
        """The entities that sets of tags stand for, sorted. Any sets stand for some."""
        found = [(label, ranges) for label, runs in runs_of(tags).items() for ranges in _joined(runs)]
        return sorted(found, key=lambda entity: (entity[1], entity[0]))


MULTILABEL = Multilabel()


def _most(entities: Sequence[Key]) -> tuple[list[Run], Sequence[Key]]:
    """As many entities of a label as runs can stand for together, larger ones first, and the runs."""
    runs = _exact(entities)
    if runs is not None:
        return runs, entities
    kept: list[Key] = []
    runs = []
    for entity in sorted(entities, key=largest_first):
        more = _exact([*kept, entity])
        if more is not None:
            kept.append(entity)
            runs = more
    return runs, kept


def _exact(entities: Sequence[Key]) -> list[Run] | None:
    """Runs that stand for exactly these entities of a label; None if there are none."""
    apart = [entity for entity in entities if len(entity[1]) > 1]
    parts = parts_of(apart)
    names = name_biohd1234(parts) if parts is not None else None
    if parts is None or names is None:
        return None
    runs = [(WHOLE, ranges[0]) for _, ranges in entities if len(ranges) == 1]
    runs += [(name, part.words) for name, part in zip(names, parts, strict=True)]
    tags = {(part, word, "I" if word > first else "B") for part, (first, end) in runs for word in range(first, end)}
    found = list(_joined(sorted(_runs(tags))))
    return runs if sorted(found) == sorted(ranges for _, ranges in entities) else None


def _runs(tags: Collection[tuple[str, int, str]]) -> Iterator[Run]:
    """The runs of a label. tags: part, word and mark."""
    for part, word, mark in tags:
        continues = any((part, word - 1, before) in tags for before in "BI")
        if mark == "B" or not (continues or (part, word, "B") in tags):
            end = word + 1
            while (part, end, "I") in tags:
                end += 1
            yield part, (word, end)


def runs_of(tags: Tags) -> dict[str, list[Run]]:
    """The runs of each label, in the order of the sentence."""
    marks: dict[str, set[tuple[str, int, str]]] = {}
    for word, own in enumerate(tags):
        for tag in own:
            part, mark, label = parse(tag)
            marks.setdefault(label, set()).add((part, word, mark))
    return {label: sorted(_runs(own), key=lambda run: (run[1], run[0])) for label, own in marks.items()}


def _joined(runs: Sequence[Run]) -> Iterator[tuple[Range, ...]]:
    """The entities of a label, each once."""
    whole = [(words,) for part, words in runs if part == WHOLE]
    joined = join_biohd1234(sorted(((p, w) for p, w in runs if p != WHOLE), key=lambda run: run[1]))
    yield from dict.fromkeys([*whole, *joined])


# Prediction

LIKELY = 0.5


def read_tag_sets(probabilities: Floats, lengths: Sequence[int], tags: Sequence[str]) -> list[list[Found]]:
    """The entities of each sentence.

    probabilities: that a word has a tag.  Shape: (B, N, T)

    The score of an entity is the product of the probabilities of the tags of its words, and that no part continues.
    """
    numbers = {tag: number for number, tag in enumerate(tags)}
    rows = []
    for own, length in zip(probabilities, lengths, strict=True):
        sets: list[set[str]] = [set() for _ in range(length)]
        for word, number in zip(*np.nonzero(own[:length] > LIKELY), strict=True):
            sets[word].add(tags[number])
        runs = runs_of(sets)
        rows.append([Found(*key, _score(key, runs[key[0]], own[:length], numbers)) for key in MULTILABEL.decode(sets)])
    return rows


def _score(key: Key, runs: Sequence[Run], probabilities: Floats, numbers: dict[str, int]) -> float:
    label, ranges = key
    words = set(words_of(ranges))
    own = [run for run in runs if run == (WHOLE, ranges[0]) and len(ranges) == 1]
    own = own or [run for run in runs if run[0] != WHOLE and words.issuperset(range(*run[1]))]
    score = 1.0
    for part, (first, end) in own:
        begin, inside = numbers[f"{part}B-{label}"], numbers[f"{part}I-{label}"]
        score *= float(probabilities[first, [begin, inside]].max() * probabilities[first + 1 : end, inside].prod())
        score *= 1 - float(probabilities[end, inside]) if end < len(probabilities) else 1
    return score


class TagSetReader:
    """Makes entities from the emissions of a graph. See `ScoreReader`."""

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = tags

    def inputs(self, batch: WordArrays) -> Arrays:
        """See `ScoreReader`."""
        return {}

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """See `ScoreReader`."""
        return read_tag_sets(sigmoid(scores[EMISSIONS]), batch.lengths.tolist(), self._tags)
