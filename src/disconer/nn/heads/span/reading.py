"""From the scores of a span head to entities with scores of their own. No torch here.

First the decisions: which spans are fragments, and which pairs of them may belong to one entity; then the entities.
Every runtime uses this: it provides the scores of spans and, on request, of pairs.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from disconer.core.errors import DisconerWarning
from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import NEAR, Arrays, RunGraph
from disconer.nn.reader import Bools, Floats, Ints
from disconer.nn.scores import sigmoid
from disconer.nn.windows import Found
from disconer.text.fragment_graph import assemble

NONE = 0  # the class of spans that are not fragments; label number n is class n + 1
THRESHOLD = 0.5  # of the probability of a fragment rather than none; with several labels, of that of each


@dataclass(frozen=True, slots=True)
class SpanPlaces:
    """Some spans of a batch, sorted by row, start and end: span k covers words [start[k], end[k]) of window row[k]."""

    row: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, chosen: Bools | Ints) -> SpanPlaces:
        return SpanPlaces(self.row[chosen], self.start[chosen], self.end[chosen])

    @property
    def place(self) -> Ints:
        """Row, start and width less one of each.  Shape: (3, K)"""
        return np.stack([self.row, self.start, self.end - self.start - 1])

    def keys(self, n_words: int) -> Ints:
        """One number per span, in their order.  n_words: of the longest window"""
        return (self.row * n_words + self.start) * (n_words + 1) + self.end


@dataclass(frozen=True, slots=True)
class Fragments:
    """Spans that are judged to be fragments. K of them.

    probabilities: of each label.  Shape: (K, labels)
    labelled: which labels each of them has.  Shape: (K, labels)
    """

    spans: SpanPlaces
    probabilities: Floats
    labelled: Bools


def decide(
    spans: SpanPlaces,
    scores: Floats,
    margins: Floats,
    lengths: Sequence[int],
    *,
    multilabel: bool,
    threshold: float = THRESHOLD,
) -> Fragments:
    """Fragments with their labels, from spans whose margin is large enough.

    scores: of each span for each class.  Shape: (K, classes)
    margins: of each span, by how much it is a fragment rather than none; see `scorers.margins`.  Shape: (K,)
    lengths: words of each window.
    multilabel: a span may have several labels, each by the threshold, or one.
    """
    kept = at_most_one_per_word(spans.row, margins, lengths)
    spans, scores = spans[kept], scores[kept]
    if multilabel:
        probabilities = sigmoid(scores[:, 1:])
        return Fragments(spans, probabilities, probabilities > threshold)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    probabilities = (powers[:, 1:] / powers.sum(-1, keepdims=True)).astype(np.float32)
    best = probabilities.argmax(-1)  # of equal ones the first
    return Fragments(spans, probabilities, np.arange(probabilities.shape[-1]) == best[:, None])


def at_most_one_per_word(row: Ints, margin: Floats, lengths: Sequence[int]) -> Bools:
    """Which spans to keep: the best of each window, at most one per word. An untrained head predicts that every span
    is a fragment, and all pairs of these do not fit into memory.
    """
    kept = np.ones(len(row), dtype=bool)
    counts = np.bincount(row, minlength=len(lengths))
    for crowded in np.flatnonzero(counts > np.asarray(lengths)).tolist():
        members = np.flatnonzero(row == crowded)
        best_first = members[np.argsort(-margin[members], kind="stable")]
        kept[best_first[lengths[crowded] :]] = False
    return kept


def pairs_within_rows(row: Ints) -> Ints:
    """All pairs of spans of one window, the earlier first, as positions in sorted spans.  Shape: (2, pairs)"""
    here = np.arange(len(row))
    n_later = np.searchsorted(row, row, side="right") - here - 1  # of each span, those of its window after it
    first = np.repeat(here, n_later)
    passed = np.cumsum(n_later) - n_later  # of each span, the pairs of all spans before it
    return np.stack([first, np.arange(len(first)) - passed[first] + first + 1])


def possible_pairs(fragments: Fragments) -> Ints:
    """Pairs that could belong to one entity: a word lies between them, and they share a label.  Shape: (2, pairs)"""
    spans, labelled = fragments.spans, fragments.labelled
    first, second = pairs_within_rows(spans.row)
    apart = spans.end[first] < spans.start[second]
    first, second = first[apart], second[apart]
    alike = (labelled[first] & labelled[second]).any(-1)
    return np.stack([first[alike], second[alike]])


MOST_ENTITIES = 1000  # of one label in a window: only an untrained model finds more

PAIRS_AT_ONCE = 2**14  # 500 fragments in a window would otherwise need gigabytes

Edges = dict[tuple[int, int], float]
# Of pairs of spans, by position, the probability that they belong to one entity; 0 where that is not the most probable.
Succession = Callable[[SpanPlaces, Ints], Floats]


def find_entities(
    spans: SpanPlaces,
    scores: Floats,
    margins: Floats,
    *,
    lengths: Sequence[int],
    labels: Sequence[str],
    multilabel: bool,
    succession: Succession | None,
    threshold: float = THRESHOLD,
) -> list[list[Found]]:
    """The entities of each window, from spans whose margin is large enough. See `decide`."""
    fragments = decide(spans, scores, margins, lengths, multilabel=multilabel, threshold=threshold)
    pairs = possible_pairs(fragments)
    if succession is None or not pairs.size:
        pairs, linked = np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32)
    else:
        parts = range(0, pairs.shape[1], PAIRS_AT_ONCE)
        linked = np.concatenate(
            [succession(fragments.spans, pairs[:, first : first + PAIRS_AT_ONCE]) for first in parts]
        )
    return read_entities(fragments, pairs, linked, labels, n_rows=len(lengths))


def read_entities(
    fragments: Fragments, pairs: Ints, succession: Floats, labels: Sequence[str], n_rows: int
) -> list[list[Found]]:
    """The entities of each window.

    pairs: of fragments, by position.  Shape: (2, pairs)
    succession: the probability that a pair belongs to one entity; 0 where it was decided that not.  Shape: (pairs,)

    The score of an entity is the probability that every decision it depends on is right, assuming that they are
    independent: the product over its fragments of the probability of their label, and over pairs of its fragments
    of the probability of succession.
    """
    edges = _edges_by_row(fragments, pairs, succession)
    found: list[list[Found]] = [[] for _ in range(n_rows)]
    _read_simple(fragments, labels, found, except_rows=edges)
    for row, own in edges.items():
        found[row] = _read_graph(fragments, row, own, labels)
    return found


def _edges_by_row(fragments: Fragments, pairs: Ints, succession: Floats) -> dict[int, Edges]:
    linked = np.flatnonzero(succession)
    edges: defaultdict[int, Edges] = defaultdict(dict)
    rows = fragments.spans.row[pairs[0, linked]].tolist()
    for row, pair, probability in zip(rows, pairs[:, linked].T.tolist(), succession[linked].tolist(), strict=True):
        edges[row][pair[0], pair[1]] = probability
    return edges


def _read_simple(
    fragments: Fragments, labels: Sequence[str], found: list[list[Found]], except_rows: dict[int, Edges]
) -> None:
    """Windows without any edge: each label of each fragment is an entity."""
    spans = fragments.spans
    which, label = fragments.labelled.nonzero()
    columns = (spans.row[which], spans.start[which], spans.end[which], label, fragments.probabilities[which, label])
    for row, start, end, number, probability in zip(*(column.tolist() for column in columns), strict=True):
        if row not in except_rows:
            found[row].append(Found(labels[number], ((start, end),), probability))


def _read_graph(fragments: Fragments, row: int, edges: Edges, labels: Sequence[str]) -> list[Found]:
    """A window with edges: its entities are the maximal cliques."""
    first, end = np.searchsorted(fragments.spans.row, [row, row + 1]).tolist()
    ranges = list(zip(fragments.spans.start[first:end].tolist(), fragments.spans.end[first:end].tolist(), strict=True))
    probabilities: list[dict[str, float]] = [{} for _ in ranges]
    for own, number in zip(*(axis.tolist() for axis in fragments.labelled[first:end].nonzero()), strict=True):
        probabilities[own][labels[number]] = float(fragments.probabilities[first + own, number])
    links = {(a - first, b - first): probability for (a, b), probability in edges.items()}
    found = []
    for entity in assemble(ranges, [list(own) for own in probabilities], links, MOST_ENTITIES, _warn_of_more):
        score = 1.0
        for span in entity.spans:
            score *= probabilities[span][entity.label]
        for pair in combinations(entity.spans, 2):
            score *= links[pair]
        found.append(Found(entity.label, entity.ranges, score))
    return found


def _warn_of_more(label: str) -> None:
    warnings.warn(
        f"More than {MOST_ENTITIES:,} entities {label} in one window: the others are left out. The model has learnt "
        "little, or the text is an extremely long list.",
        DisconerWarning,
        stacklevel=2,
    )


def with_near_misses(read: Callable[[float], list[list[Found]]], *, near: bool) -> list[list[Found]]:
    """The entities of each window, and if asked for, those with fragments that are nearly ones.

    read: the entities whose fragments are above a probability. With more fragments others may be maximal cliques.
    """
    found = read(THRESHOLD)
    if not near:
        return found
    known = [{(entity.label, entity.ranges) for entity in own} for own in found]
    return [
        own + [entity for entity in more if (entity.label, entity.ranges) not in here]
        for own, here, more in zip(found, known, read(NEAR), strict=True)
    ]


def least_margin(threshold: float) -> float:
    """The margin of a fragment whose probability, rather than none, is this."""
    return math.log(threshold / (1 - threshold))


PAIRS = "pairs"  # the graph that scores pairs of spans
SCORES, MARGINS, WORDS = "scores", "margins", "words"  # the outputs of the graph that scores spans


class SpanReader:
    """Makes entities from the scores of an exported head. See `ScoreReader`.

    pair_graph: runs the graph that scores pairs; None if pairs are not scored.
    near: whether to give near misses, too.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        max_width: int | None,
        multilabel: bool,
        pair_graph: RunGraph | None,
        near: bool = False,
    ) -> None:
        self._labels, self._max_width, self._multilabel = tuple(labels), max_width, multilabel
        self._pair_graph, self._near = pair_graph, near

    def inputs(self, batch: WordArrays) -> Arrays:
        """See `ScoreReader`: the widths of spans, less one."""
        n_words = batch.word_mask.shape[1]
        return {"widths": np.arange(min(self._max_width or n_words, n_words))}

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """See `ScoreReader`."""
        return with_near_misses(partial(self._read, scores, batch), near=self._near)

    def _read(self, scores: Arrays, batch: WordArrays, threshold: float) -> list[list[Found]]:
        margins = scores[MARGINS]  # (B, N, W)
        row, start, width = place = (margins > least_margin(threshold)).nonzero()
        return find_entities(
            SpanPlaces(row, start, start + width + 1),
            scores[SCORES][place],
            margins[place],
            lengths=batch.lengths.tolist(),
            labels=self._labels,
            multilabel=self._multilabel,
            succession=None if self._pair_graph is None else partial(self._succession, scores[WORDS]),
            threshold=threshold,
        )

    def _succession(self, words: Floats, spans: SpanPlaces, pairs: Ints) -> Floats:
        assert self._pair_graph is not None
        succession: Floats = self._pair_graph({"words": words, "place": spans.place, "pairs": pairs})[0]
        return succession
