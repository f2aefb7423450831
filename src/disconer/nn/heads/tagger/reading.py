"""From the tags of words to entities with scores. No torch here.

In three steps, as the CRF computes the probabilities in between: read the entities off the tags (`read_entities`), ask
for the probability of each (`Asked`, for `segment_probabilities`), and combine the two (`TaggedEntities.scored`).

The CRF is `crf.LinearChainCrf` in torch, whose comments explain the sums, and `NumpyCrf` elsewhere. Shapes: B
sentences, N words of the longest, T tags, S entities of at most W words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import Arrays
from disconer.nn.heads.tagger.parts import Key
from disconer.nn.heads.tagger.schemes import Scheme, continuation
from disconer.nn.reader import Floats, Ints
from disconer.nn.windows import Found

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


IMPOSSIBLE = np.float32(-1e30)  # the log of a sum over no paths
SEGMENTS_AT_ONCE = 2**10


@dataclass(frozen=True)
class NumpyCrf:
    """The CRF of a trained tagger: the likeliest tags, and exact probabilities of entities.

    start, end: scores of tags that start and end a sentence.  Shape: (T,)
    between: of transitions, from row to column.  Shape: (T, T)
    """

    start: Floats
    between: Floats
    end: Floats

    def viterbi(self, emissions: Floats, lengths: Sequence[int]) -> Ints:
        """The likeliest tags of each sentence; 0 for padding.  emissions:  Shape: (B, N, T) -> (B, N)"""
        n_rows, n_words, n_tags = emissions.shape
        inside = np.arange(n_words) < np.asarray(lengths)[:, None]  # (B, N)
        best = self.start + emissions[:, 0]  # (B, T)
        origins = np.zeros((n_words, n_rows, n_tags), dtype=np.int64)
        for word in range(1, n_words):
            scores = best[:, :, None] + self.between  # (B, T, T)
            origin = scores.argmax(1)  # (B, T)
            score = np.take_along_axis(scores, origin[:, None], 1)[:, 0]
            here = inside[:, word, None]
            best = np.where(here, score + emissions[:, word], best)
            origins[word] = np.where(here, origin, np.arange(n_tags))
        tags = np.zeros((n_rows, n_words), dtype=np.int64)
        tags[:, -1] = (best + self.end).argmax(-1)
        for word in range(n_words - 1, 0, -1):
            tags[:, word - 1] = np.take_along_axis(origins[word], tags[:, word, None], 1)[:, 0]
        return np.where(inside, tags, 0)

    def segment_probabilities(self, emissions: Floats, lengths: Sequence[int], asked: Asked) -> Floats:
        """The probability that all words of each segment have tags as asked, given the sentence.  Shape: (S,)"""
        if not len(asked.row):
            return np.zeros(0, dtype=np.float32)
        rows, row = np.unique(asked.row, return_inverse=True)  # sentences without a segment need no sums
        asked = asked._replace(row=row)
        emissions, n_words = emissions[rows], np.asarray(lengths)[rows]
        forward, backward = self._forward(emissions, n_words), self._backward(emissions, n_words)
        log_partition = _log_sum(forward[:, -1] + self.end, -1)  # (B,)
        probabilities = []
        for first in range(0, len(row), SEGMENTS_AT_ONCE):
            chunk = Asked(*(column[first : first + SEGMENTS_AT_ONCE] for column in asked))
            log_sums = self._segment_sums(emissions, forward, backward, chunk)
            probabilities.append(np.exp(log_sums - log_partition[chunk.row]))
        found: Floats = np.minimum(np.concatenate(probabilities), 1)  # rounding may go beyond
        return found

    def _segment_sums(self, emissions: Floats, forward: Floats, backward: Floats, asked: Asked) -> Floats:
        """Log sums over the paths of sentences that have the tags asked for.  Shape: (S,)"""
        row, first, end, only, never = asked
        sums = _as_asked(forward[row, first], only[:, 0], never[:, 0])  # (S, T)
        for step in range(1, int((end - first).max())):
            inside = np.flatnonzero(first + step < end)
            following = self._follow(sums[inside], only[inside, step - 1])
            following = following + emissions[row[inside], first[inside] + step]
            sums[inside] = _as_asked(following, only[inside, step], never[inside, step])
        return _log_sum(sums + backward[row, end - 1], -1)

    def _follow(self, sums: Floats, only: Ints) -> Floats:
        """Log sums over the tag of a word, for each tag of the next.  Shape: (S, T)"""
        one = np.maximum(only, 0)
        following: Floats = np.take_along_axis(sums, one[:, None], 1) + self.between[one]
        free = np.flatnonzero(only == ANY)
        following[free] = _log_sum(sums[free][:, :, None] + self.between, 1)
        return following

    def _forward(self, emissions: Floats, lengths: Ints) -> Floats:
        """Shape: (B, N, T); padding repeats the last word"""
        sums = np.empty_like(emissions)
        sums[:, 0] = self.start + emissions[:, 0]
        for word in range(1, emissions.shape[1]):
            following = _log_sum(sums[:, word - 1, :, None] + self.between, 1) + emissions[:, word]
            sums[:, word] = np.where((word < lengths)[:, None], following, sums[:, word - 1])
        return sums

    def _backward(self, emissions: Floats, lengths: Ints) -> Floats:
        """Shape: (B, N, T); padding repeats the last word"""
        sums = np.empty_like(emissions)
        sums[:, -1] = self.end
        for word in range(emissions.shape[1] - 1, 0, -1):
            before = _log_sum(self.between + (sums[:, word] + emissions[:, word])[:, None, :], 2)
            sums[:, word - 1] = np.where((word < lengths)[:, None], before, sums[:, word])
        return sums


def _log_sum(scores: Floats, axis: int) -> Floats:
    largest = scores.max(axis, keepdims=True)
    sums: Floats = np.log(np.exp(scores - largest).sum(axis)) + largest.squeeze(axis)
    return sums


def _as_asked(sums: Floats, only: Ints, never: Ints) -> Floats:
    """Log sums of the tags that a word may have; IMPOSSIBLE for the others.  Shape: (S, T)"""
    tag = np.arange(sums.shape[1])
    allowed = ((only == ANY)[:, None] | (tag == only[:, None])) & (tag != never[:, None])
    return np.where(allowed, sums, IMPOSSIBLE)


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
    """Makes entities from the emissions of a tagger's graph. See `ScoreReader`."""

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
