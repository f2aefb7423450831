"""From scores of labels to entities, greedy or with a beam. No torch here.

All windows of a batch advance together, a label at a time. Every runtime uses this (`Decoder`), and provides the scores
of the next label: in torch `head.TorchScorer`, elsewhere `GraphScorer`, whose graph is run for each label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from disconer.nn.arrays import WordArrays
from disconer.nn.heads.beam import Step, best_paths, best_steps
from disconer.nn.heads.kind import Arrays, RunGraph
from disconer.nn.heads.sequence.labels import END, Alphabet, State, read, valid_labels
from disconer.nn.reader import Floats, Ints
from disconer.nn.windows import Found


class Scorer(Protocol):
    """Scores of the next label of some paths, one call for each step."""

    def __call__(self, row: Ints, word: Ints, before: Ints, origin: Ints) -> Floats:
        """
        row, word: the word at hand of each path.  Shape: (R,)
        before: the label before.  Shape: (R,)
        origin: its position among the paths of the call before; any in the first call.  Shape: (R,)

        Shape: (R, labels of words)
        """
        ...


class Path(NamedTuple):
    """The labels of a window so far.

    score: their log probability; scores: that of each.
    origin: its position in the last call of the scorer.
    """

    row: int
    score: float = 0.0
    state: State = State()
    labels: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    origin: int = 0

    def after(self, step: Step[Path], n_labels: int) -> Path:
        return Path(
            self.row,
            self.score + step.score,
            self.state.after(step.number, n_labels),
            (*self.labels, step.number),
            (*self.scores, step.score),
            step.place,
        )


@dataclass(frozen=True)
class Decoder:
    """Finds the entities of a batch."""

    labels: Sequence[str]
    alphabet: Alphabet
    beam: int

    def __call__(self, scorer: Scorer, lengths: Sequence[int]) -> list[list[Found]]:
        """The entities of each window, with the probability of their labels as score. lengths: of windows, in words"""
        paths = [Path(row) for row in range(len(lengths))]
        while unfinished := [path for path in paths if path.state.word < lengths[path.row]]:
            finished = [path for path in paths if path.state.word == lengths[path.row]]
            scores, numbers = self._likeliest(unfinished, scorer, lengths)
            steps = best_steps(unfinished, scores, numbers, self.beam)
            following = [step.path.after(step, self.alphabet.n_labels) for step in steps]
            paths = best_paths([*finished, *following], self.beam)
        best = {path.row: path for path in reversed(paths)}
        return [self._found(best[row]) for row in range(len(lengths))]

    def _likeliest(
        self, paths: Sequence[Path], scorer: Scorer, lengths: Sequence[int]
    ) -> tuple[list[list[float]], list[list[int]]]:
        """Of each path, the log probabilities of its likeliest next labels, and these."""
        columns = [(path.row, path.state.word, path.labels[-1] if path.labels else END, path.origin) for path in paths]
        scores = scorer(*np.array(columns, dtype=np.int64).T)
        choices = [path.state.choice(lengths[path.row], self.alphabet) for path in paths]
        scores = np.where(valid_labels(self.alphabet.n_labels)[choices], scores, -np.inf)
        probabilities = scores - np.logaddexp.reduce(scores, -1, keepdims=True)  # in logarithms
        best = np.argsort(-probabilities, kind="stable")[:, : self.beam] if self.beam > 1 else _best(probabilities)
        return np.take_along_axis(probabilities, best, -1).tolist(), best.tolist()

    def _found(self, path: Path) -> list[Found]:
        """Each entity once, with its best score."""
        scores = np.array(path.scores)
        best: dict[tuple[str, tuple[int, int]], float] = {}
        for label, words, places in read(path.labels, self.alphabet.n_labels):
            key = self.labels[label], words
            best[key] = max(float(np.exp(scores[list(places)].sum())), best.get(key, 0.0))
        return [Found(label, (words,), score) for (label, words), score in best.items()]


def _best(scores: Floats) -> Ints:
    best: Ints = scores.argmax(-1)[:, None]
    return best


WORDS, STEP = "words", "labels"  # an output of the network's graph, and the graph that is run for each label
STEP_INPUTS = ("words", "before", "hidden", "memory")
STEP_OUTPUTS = ("scores", "new_hidden", "new_memory")


class SequenceReader:
    """Makes entities from the words of a graph. See `ScoreReader`.

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
