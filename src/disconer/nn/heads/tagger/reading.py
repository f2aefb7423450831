"""From the tags of words to entities with scores. No torch here.

In three steps, as the CRF computes the probabilities in between: read the entities off the tags (`read_entities`), ask
for the probability of each (`Asked`, for `LinearChainCrf.segment_probabilities`), and combine the two
(`TaggedEntities.scored`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import Arrays
from disconer.nn.heads.tagger.numpy_crf import ANY, Asked, NumpyCrf
from disconer.nn.heads.tagger.parts import Key
from disconer.nn.heads.tagger.schemes import Scheme, continuation
from disconer.nn.reader import Floats, Ints
from disconer.nn.windows import Found


class TaggedEntities(NamedTuple):
    """Entities read off the tags of some sentences.

    found: of each entity its sentence, label and ranges, in order.
    asked: what their tags are.
    """

    found: list[tuple[int, Key]]
    asked: Asked

    def scored(self, probabilities: Floats, n_rows: int) -> list[list[Found]]:
        """The entities of each sentence.

        probabilities: that the tags are as asked.  Shape: (S,)

        The score of an entity is the probability, under the CRF, that its words have their tags and that none of its
        parts continues. The words in the gaps of a discontinuous entity may have any tags.
        """
        rows: list[list[Found]] = [[] for _ in range(n_rows)]
        for (row, (label, ranges)), probability in zip(self.found, probabilities.tolist(), strict=True):
            rows[row].append(Found(label, ranges, probability))
        return rows


def read_entities(best: Ints, lengths: Sequence[int], *, tags: Sequence[str], scheme: Scheme) -> TaggedEntities:
    """The entities of a batch of sentences.

    best: the tag of each word, by its number in `tags`.  Shape: (B, N)
    lengths: words of each sentence; what comes after them is padding.
    """
    found: list[tuple[int, Key]] = []
    for row, (numbers, length) in enumerate(zip(best.tolist(), lengths, strict=True)):
        found += [(row, key) for key in scheme.decode([tags[number] for number in numbers[:length]])]
    return TaggedEntities(found, _ask(found, best, lengths, tags))


def _ask(found: Sequence[tuple[int, Key]], best: Ints, lengths: Sequence[int], tags: Sequence[str]) -> Asked:
    number = {tag: position for position, tag in enumerate(tags)}
    row = np.array([row for row, _ in found], dtype=np.int64)
    first = np.array([ranges[0][0] for _, (_, ranges) in found], dtype=np.int64)
    # The word after an entity counts, too: it must not continue the entity.
    end = np.array([min(ranges[-1][1] + 1, lengths[row]) for row, (_, ranges) in found], dtype=np.int64)
    width = int((end - first).max(initial=1))
    only = np.full((len(found), width), ANY, dtype=np.int64)
    never = np.full((len(found), width), ANY, dtype=np.int64)
    for place, (sentence, (_, ranges)) in enumerate(found):
        origin = ranges[0][0]
        for start, stop in ranges:
            only[place, start - origin : stop - origin] = best[sentence, start:stop]
            if stop < lengths[sentence]:
                never[place, stop - origin] = number[continuation(tags[best[sentence, stop - 1]])]
    return Asked(row, first, end, only, never)


EMISSIONS, CRF_SCORES = "emissions", ("start", "between", "end")  # the outputs of a tagger's graph


class TagReader:
    """Makes entities of the emissions of a tagger's graph. See `ScoreReader`."""

    def __init__(self, scheme: Scheme, tags: Sequence[str]) -> None:
        self._scheme, self._tags = scheme, tags

    def inputs(self, batch: WordArrays) -> Arrays:
        """See `ScoreReader`."""
        return {}

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """See `ScoreReader`."""
        crf = NumpyCrf(**{name: scores[name] for name in CRF_SCORES})
        emissions, lengths = scores[EMISSIONS], batch.lengths.tolist()
        best = crf.viterbi(emissions, lengths)
        entities = read_entities(best, lengths, tags=self._tags, scheme=self._scheme)
        probabilities = crf.segment_probabilities(emissions, lengths, entities.asked)
        return entities.scored(probabilities, n_rows=len(lengths))
