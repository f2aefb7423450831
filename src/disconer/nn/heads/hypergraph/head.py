"""The hypergraph head: scores of edges, the likelihood of trees in training, the best trees in prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu, softplus

from disconer.nn.devices import WordBatch, moved, sent
from disconer.nn.heads.hypergraph.inside import IMPOSSIBLE, Algebra, inside
from disconer.nn.heads.hypergraph.paths import Edges, why_not
from disconer.nn.heads.hypergraph.reading import (
    FIRST,
    SCORES,
    SECOND,
    Pairs,
    Starts,
    least_start,
    pairs_of,
    read_entities,
)
from disconer.nn.heads.kind import NEAR, Graph, HeadGraphs
from disconer.nn.interfaces import AxisNames
from disconer.nn.layers import GAP_CLASSES, gap_class
from disconer.nn.reader import Bools, Ints
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

NEGLIGIBLE = -80.0  # e to this is lost when added to 1 in float32
RARE = -3.0  # the first score of edges but ends: trees start small, as sums over large ones grow beyond all bounds


class _Sum(torch.autograd.Function):
    """As `torch.logaddexp` twice, but faster on a CPU: no exponential underflows, and the gradient needs none."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        both = a + b
        largest = torch.maximum(torch.maximum(a, b), both)
        one, other, two = ((score - largest).clamp(min=NEGLIGIBLE).exp() for score in (a, b, both))
        total = one + other + two
        ctx.save_for_backward((one + two) / total, (other + two) / total)
        return largest + total.log()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        one, other = ctx.saved_tensors
        return gradient * one, gradient * other


def _sum(a: Tensor, b: Tensor) -> Tensor:
    total: Tensor = _Sum.apply(a, b)  # type: ignore[no-untyped-call]
    return total


def _best(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(torch.maximum(a, b), a + b)


SUM = Algebra(_sum, torch.cat, torch.split)
BEST = Algebra(_best, torch.cat, torch.split)


class EdgeScorer(nn.Module):
    """Scores of all edges of each label for pairs of words: the first of an entity, and the one that an edge leads to.

    They see both words, their product, and how far they are apart.
    """

    def __init__(self, *, word_size: int, hidden: int, edges: Edges, n_labels: int, dropout: float) -> None:
        super().__init__()
        self.added = nn.Linear(word_size, 2 * hidden)
        self.multiplied = nn.Linear(word_size, 2 * hidden)
        self.distance = nn.Embedding(GAP_CLASSES, hidden)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, len(edges) * n_labels)
        with torch.no_grad():
            for bias, (kind, *_) in zip(self.output.bias.view(-1, n_labels), edges.names, strict=True):
                bias.fill_(0.0 if kind == "end" else RARE)

    def forward(self, words: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """first, second: the words of pairs, by number.  Shape: (words, d), (M,), (M,) -> (M, edges * labels)"""
        at_first, at_second = self.added(words).chunk(2, dim=1)  # (words, H) each
        left, right = self.multiplied(words).chunk(2, dim=1)
        distance = self.distance(gap_class(second - first))  # (M, H)
        added = at_first.index_select(0, first) + at_second.index_select(0, second)
        multiplied = left.index_select(0, first) * right.index_select(0, second)
        scores: Tensor = self.output(self.dropout(relu(added + multiplied + distance)))
        return scores


class TreeTargets(NamedTuple):
    """The edges of the trees of a window, M of them, and the words whose trees are learned.

    steps: offset, edge, first word, label, and whether the tree has a discontinuous entity. An edge that a tree has
        twice is here twice.  Shape: (5, M)
    taught:  Shape: (words,)
    """

    steps: Ints
    taught: Bools


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """The same for a batch, its words one after another without padding.  Shape: (5, M), (W,)"""

    steps: Tensor
    taught: Tensor

    def to(self, device: torch.device) -> TreeBatch:
        return TreeBatch(moved(self.steps, device), moved(self.taught, device))


class Scored(NamedTuple):
    """The network's outputs for a batch, on its device.

    scores: of edges.  Shape: (offsets, edges, W, labels)
    starts: whether the best tree of a word and label has an entity.  Shape: (W, labels)
    pairs: on the CPU.  n_rows: windows of the batch.
    """

    scores: Tensor
    starts: Tensor
    pairs: Pairs
    n_rows: int


class HypergraphHead(nn.Module):
    """Entities as trees of choices. See `HypergraphSettings` and `paths`."""

    def __init__(
        self, *, labels: Sequence[str], reach: int, edges: Edges, scorer: EdgeScorer, gap_weight: float
    ) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.label_numbers = {label: number for number, label in enumerate(self.labels)}
        self.reach, self.edges, self.scorer, self.gap_weight = reach, edges, scorer, gap_weight
        self._near: float | None = None

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"edges": self.scorer}

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`."""
        remembered = {edge: self.edges.memory if edge[1] else 1 for edge in self.edges.names}
        scores = [(*edge, memory, label) for edge, memory in remembered.items() for label in self.labels]
        return {f"scorer.output.{name}": {0: scores} for name in ("weight", "bias")}

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> TreeTargets:
        """See `Head`. Entities without a path are left out; where one starts that is cut, nothing is learned."""
        known = [entity for entity in entities if entity.label in self.label_numbers]
        taught = np.array([window.owns(word) for word in range(len(window))], dtype=bool)
        cut = {entity.ranges[0][0] - window.start for entity in known if not window.holds(entity)}
        taught[[word for word in cut if 0 <= word < len(window)]] = False
        learnt = [
            (ranges[0][0], self.label_numbers[label], ranges)
            for label, ranges in (entity.key for entity in window.within(known))
            if taught[ranges[0][0]] and not why_not(ranges, self.reach, self.edges)
        ]
        paths = ((first, label, self.edges.path(ranges)) for first, label, ranges in learnt)
        branches = {(first, label, path[:end]) for first, label, path in paths for end in range(1, len(path) + 1)}
        gapped = {(first, label) for first, label, ranges in learnt if len(ranges) > 1}
        steps = [(*path[-1], first, label, (first, label) in gapped) for first, label, path in sorted(branches)]
        return TreeTargets(np.array(steps, dtype=np.int64).reshape(-1, 5).T, taught)

    def batch_targets(self, targets: Sequence[TreeTargets]) -> TreeBatch:
        """See `Head`."""
        ends = np.cumsum([len(one.taught) for one in targets])
        origins = np.repeat(ends - [len(one.taught) for one in targets], [one.steps.shape[1] for one in targets])
        offset, edge, first, label, gapped = np.concatenate([one.steps for one in targets], axis=1)
        taught = np.concatenate([one.taught for one in targets])
        steps = np.stack([offset, edge, first + origins, label, gapped])
        return TreeBatch(torch.from_numpy(steps), torch.from_numpy(taught))

    def loss(self, words: Tensor, batch: WordBatch, targets: TreeBatch) -> Tensor:
        """See `Head`: minus the log probability of the trees; those with a discontinuous entity weigh more."""
        scores, _ = self.scores(words, batch)
        *step, gapped = targets.steps
        _, _, first, label = step
        heavier = torch.where(gapped == 1, self.gap_weight, 1.0)  # (M,)
        weight = targets.taught.to(scores.dtype)[:, None].repeat(1, len(self.labels))  # (W, labels)
        weight[first, label] = heavier
        return (weight * self.log_partition(scores)).sum() - (heavier * scores[tuple(step)]).sum()

    def log_partition(self, scores: Tensor) -> Tensor:
        """The log sum over all sets of entities of each first word and label.  Shape: (R, edges, …) -> (…)

        The sets of different words and labels are independent of one another. The gradient is the expected number of
        times that a tree has each edge: what an outside pass computes.
        """
        return softplus(self._start(scores, SUM))

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> Scored:
        """See `Head`."""
        scores, pairs = self.scores(words, batch)
        algebra = BEST if self._near is None else SUM
        starts = self._start(scores, algebra) > least_start(self._near)
        return Scored(scores, starts, pairs, len(batch.lengths))

    def collect(self, launched: Scored) -> list[list[Found]]:
        """See `Head`. Only where an entity starts, more than that is needed."""
        scores, starts, pairs, n_rows = launched
        places = starts.nonzero().T  # (2, S)
        chosen = scores[:, :, places[0], places[1]].cpu().numpy()  # (offsets, edges, S)
        word, label = places.cpu().numpy()
        found = Starts(pairs.row[word], pairs.word[word], label, chosen)
        return read_entities(found, self.labels, self.edges, n_rows=n_rows, near=self._near)

    def near(self) -> HypergraphHead:
        """See `NearHead`."""
        other = copy(self)
        other._near = NEAR
        return other

    # Both

    def _start(self, scores: Tensor, algebra: Algebra) -> Tensor:
        """The log weight of all sets of one or more entities, or of the best.  Shape: (R, edges, …) -> (…)"""
        weight: Tensor = inside(scores, self.edges, algebra)[0][self.edges.start]
        return weight

    def scores(self, words: Tensor, batch: WordBatch) -> tuple[Tensor, Pairs]:
        """IMPOSSIBLE beyond the end of a sentence.  Shape: (B, N, d) -> (offsets, edges, W, labels)"""
        pairs = pairs_of(np.asarray(batch.lengths), words.shape[1], self.reach)
        first, second, cell = sent([pairs.first, pairs.second, pairs.cell], words.device)
        scores = self.scorer(words.flatten(0, 1), first, second).float()  # (M, edges * labels)
        n_words = len(pairs.word)
        everywhere = scores.new_full((n_words * pairs.n_offsets, scores.shape[1]), IMPOSSIBLE)
        by_word = everywhere.index_copy(0, cell, scores).view(n_words, pairs.n_offsets, len(self.edges), -1)
        return by_word.permute(1, 2, 0, 3).contiguous(), pairs


class HypergraphGraph(nn.Module):
    """The scores of edges, for ONNX only."""

    def __init__(self, scorer: EdgeScorer) -> None:
        super().__init__()
        self.scorer = scorer

    def forward(self, words: Tensor, lengths: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor]:
        """Shape: (B, N, d), (B,), (M,), (M,) -> (M, edges * labels)"""
        return (self.scorer(words.flatten(0, 1), first, second),)


def hypergraph_graphs(head: HypergraphHead) -> HeadGraphs:
    inputs = {name: {0: "pairs"} for name in (FIRST, SECOND)}
    example = (torch.arange(11), torch.arange(11) + 1)
    return HeadGraphs(Graph(HypergraphGraph(head.scorer), inputs, (SCORES,), example=example))
