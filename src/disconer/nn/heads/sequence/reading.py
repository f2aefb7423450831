"""The sequence head in other runtimes than torch: its graph is run for each label. No torch here."""

from __future__ import annotations

import numpy as np

from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import Arrays, RunGraph
from disconer.nn.heads.sequence.decoding import Decoder
from disconer.nn.reader import Floats, Ints
from disconer.nn.windows import Found

WORDS, STEP = "words", "labels"  # an output of the network's graph, and the graph that is run for each label
STEP_INPUTS = ("words", "before", "hidden", "memory")
STEP_OUTPUTS = ("scores", "new_hidden", "new_memory")


class SequenceReader:
    """Makes entities of the words of a graph. See `ScoreReader`.

    size: of the LSTM.
    """

    def __init__(self, decoder: Decoder, step: RunGraph, size: int) -> None:
        self._decoder, self._step, self._size = decoder, step, size

    def inputs(self, batch: WordArrays) -> Arrays:
        """See `ScoreReader`."""
        return {}

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """See `ScoreReader`."""
        return self._decoder(GraphScorer(self._step, scores[WORDS], self._size), batch.lengths.tolist())


class GraphScorer:
    """See `Scorer`.  words:  Shape: (B, N, d)"""

    def __init__(self, step: RunGraph, words: Floats, size: int) -> None:
        self.step, self.words = step, words
        self.states = [np.zeros((len(words), size), dtype=np.float32)] * 2

    def __call__(self, row: Ints, word: Ints, before: Ints, origin: Ints) -> Floats:
        states = (state[origin] for state in self.states)
        scores, *self.states = self.step(dict(zip(STEP_INPUTS, (self.words[row, word], before, *states), strict=True)))
        return scores
