"""The span head: enumerate spans, classify fragments, classify relations, read entities off as maximal cliques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, linear

from disconer.nn.devices import WordBatch
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.heads.span.reading import (
    MARGINS,
    NONE,
    PAIRS,
    SCORES,
    WORDS,
    SpanPlaces,
    at_most_one_per_word,
    find_entities,
    least_margin,
    pairs_within_rows,
    with_near_misses,
)
from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer, WidthEmbedding, margins, succession
from disconer.nn.heads.span.targets import (
    SpanTargetBatch,
    SpanTargets,
    relation_classes,
    span_target_batch,
    span_targets,
)
from disconer.nn.interfaces import AxisNames
from disconer.nn.reader import Floats, Ints
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

IGNORED = -100  # the class of spans that do not exist, which the loss skips


class SpanScores(NamedTuple):
    """The network's outputs for a batch, on its device.

    words:  Shape: (B, N, d)
    scores: of all spans.  Shape: (B, N, W, classes)
    margins: by how much each is a fragment rather than none; minus infinity if it does not exist.  Shape: (B, N, W)
    lengths: words of each window.
    """

    words: Tensor
    scores: Tensor
    margins: Tensor
    lengths: list[int]


class SpanHead(nn.Module):
    """The paper's sections 3.3 to 3.5.

    labels: entity labels.
    max_width: words of the widest span; None for all.
    multilabel: a span may have several labels (each against NONE by a threshold) or one (softmax, as in the paper).
    relations: None leaves relation scoring out: every fragment is an entity.
    overlapping: whether pairs that share words are a class of their own in training.
    alpha, beta: weights of the two losses.
    """

    def __init__(
        self,
        *,
        labels: Sequence[str],
        max_width: int | None,
        widths: WidthEmbedding,
        fragments: FragmentScorer,
        relations: RelationScorer | None,
        overlapping: bool,
        multilabel: bool,
        alpha: float,
        beta: float,
    ) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.label_numbers = {label: number for number, label in enumerate(self.labels)}
        self.max_width, self.multilabel, self.overlapping = max_width, multilabel, overlapping
        self.alpha, self.beta = alpha, beta
        self.widths, self.fragments, self.relations = widths, fragments, relations
        self._near = False

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"spans": self.fragments} | ({} if self.relations is None else {"pairs": self.relations})

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`. Class 0 means something only where a span has one label."""
        classes = {0: ((NONE, self.multilabel), *self.labels)}
        output = f"fragments.{self.fragments.output}"
        widths = {0: range(self.widths.table.num_embeddings)}
        return {f"{output}.weight": classes, f"{output}.bias": classes, "widths.table.weight": widths}

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> SpanTargets:
        """See `Head`."""
        known = [entity for entity in entities if entity.label in self.label_numbers]
        return span_targets((entity.key for entity in window.within(known)), self.max_width)

    def batch_targets(self, targets: Sequence[SpanTargets]) -> SpanTargetBatch:
        """See `Head`."""
        return span_target_batch(targets, self.label_numbers)

    def loss(self, words: Tensor, batch: WordBatch, targets: SpanTargetBatch) -> Tensor:
        """Alpha * NLL(fragments) + beta * NLL(relations), summed over the batch."""
        return self.loss_of_scores(*self.span_scores(words, batch), words, batch, targets)

    def loss_of_scores(
        self, scores: Tensor, exists: Tensor, words: Tensor, batch: WordBatch, targets: SpanTargetBatch
    ) -> Tensor:
        """The same, from `span_scores`."""
        valid = exists & batch.own_mask[:, :, None]  # where windows overlap, a span is learned in only one of them
        loss = self.alpha * self._fragment_loss(scores, valid, targets)
        if self.relations is not None:
            margin = margins(scores.detach(), valid, multilabel=self.multilabel)
            candidates = self._candidates(margin, batch.lengths, targets)
            loss = loss + self.beta * self._relation_loss(words, candidates, targets)
        return loss

    def _fragment_loss(self, scores: Tensor, valid: Tensor, targets: SpanTargetBatch) -> Tensor:
        gold, place = targets.labels, tuple(targets.place)
        if self.multilabel:
            wanted = torch.zeros_like(scores[..., 1:])  # (B, N, W, labels)
            wanted[place] = gold.to(wanted)
            weight = valid[..., None].to(wanted)
            return binary_cross_entropy_with_logits(scores[..., 1:], wanted, weight, reduction="sum")
        classes = torch.where(valid, NONE, IGNORED)  # (B, N, W)
        # Gold spans of other windows are not valid here and stay ignored.
        classes[place] = torch.where(valid[place], gold.int().argmax(-1) + 1, IGNORED)
        return cross_entropy(scores.flatten(0, 2), classes.flatten(), ignore_index=IGNORED, reduction="sum")

    def _candidates(self, margin: Tensor, lengths: Sequence[int], targets: SpanTargetBatch) -> SpanPlaces:
        """Gold and predicted fragments, sorted.  margin:  Shape: (B, N, W)"""
        chosen = margin > 0
        chosen[tuple(targets.place)] = True
        place = chosen.nonzero(as_tuple=True)
        spans, margin_here = _fetch(place), margin[place].cpu().numpy()
        kept = at_most_one_per_word(spans.row, margin_here, lengths)
        if not kept.all():
            n_words = margin.shape[1]
            kept |= np.isin(spans.keys(n_words), targets.spans.keys(n_words))
        return spans[kept]

    def _relation_loss(self, words: Tensor, spans: SpanPlaces, targets: SpanTargetBatch) -> Tensor:
        pairs = pairs_within_rows(spans.row)
        classes = relation_classes(spans, pairs, targets, words.shape[1], overlapping=self.overlapping)
        scores = self._relation_scores(words, spans, pairs)
        return cross_entropy(scores, torch.from_numpy(classes).to(scores.device), reduction="sum")

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> SpanScores:
        """See `Head`."""
        scores, exists = self.span_scores(words, batch)
        return SpanScores(words, scores, margins(scores, exists, multilabel=self.multilabel), batch.lengths)

    def collect(self, launched: SpanScores) -> list[list[Found]]:
        """See `Head`."""
        return with_near_misses(partial(self._read, launched), near=self._near)

    def _read(self, launched: SpanScores, threshold: float) -> list[list[Found]]:
        place = (launched.margins > least_margin(threshold)).nonzero(as_tuple=True)
        return find_entities(
            _fetch(place),
            launched.scores[place].cpu().numpy(),
            launched.margins[place].cpu().numpy(),
            lengths=launched.lengths,
            labels=self.labels,
            multilabel=self.multilabel,
            succession=None if self.relations is None else partial(self._succession, launched.words),
            threshold=threshold,
        )

    def near(self) -> SpanHead:
        """See `NearHead`."""
        other = copy(self)
        other._near = True
        return other

    def _succession(self, words: Tensor, spans: SpanPlaces, pairs: Ints) -> Floats:
        return succession(self._relation_scores(words, spans, pairs)).cpu().numpy()

    # Both

    def span_scores(self, words: Tensor, batch: WordBatch) -> tuple[Tensor, Tensor]:
        """Scores of all spans, and which of them exist.  Shape: (B, N, W, classes), (B, N, W)

        Padding is left out before spans are scored: most of a batch of sentences of different lengths is padding.
        """
        n_rows, n_words = words.shape[:2]
        n_widths = n_words if self.max_width is None else min(self.max_width, n_words)
        width = torch.arange(n_widths, device=words.device)
        real = batch.real_words
        scores = self.fragments(words.flatten(0, 1)[real], self.widths(width)).float()  # (K, W, classes)
        everywhere = scores.new_zeros(n_rows * n_words, *scores.shape[1:]).index_copy(0, real, scores)
        end = torch.arange(n_words, device=words.device)[:, None] + width  # (N, W)
        lengths = batch.word_mask.sum(-1)
        return everywhere.unflatten(0, (n_rows, n_words)), end < lengths[:, None, None]

    def _relation_scores(self, words: Tensor, spans: SpanPlaces, pairs: Ints) -> Tensor:
        """Shape: (pairs, relations)"""
        place, on_device = (torch.from_numpy(one).to(words.device) for one in (spans.place, pairs))
        return self.relation_scores(words, place, on_device)

    def relation_scores(self, words: Tensor, place: Tensor, pairs: Tensor) -> Tensor:
        """Of pairs of spans; see `RelationScorer`.  Shape: (B, N, d), (3, K), (2, pairs) -> (pairs, relations)"""
        assert self.relations is not None
        scores: Tensor = self.relations(words, self.widths(place[2]), place, pairs)
        return scores.float()


def _fetch(place: tuple[Tensor, ...]) -> SpanPlaces:
    """Spans at (row, start, width - 1), copied to the CPU at once."""
    row, start, width = torch.stack(place).cpu().numpy()
    return SpanPlaces(row, start, start + width + 1)


def span_graphs(head: SpanHead) -> HeadGraphs:
    n_widths, n_windows, n_words, n_spans, n_pairs, word_size = 4, 3, 7, 5, 6, head.fragments.parts[0]
    scores = Graph(
        SpanGraph(head), {"widths": {0: "widths"}}, (WORDS, SCORES, MARGINS), example=(torch.arange(n_widths),)
    )
    if head.relations is None:
        return HeadGraphs(scores)
    pairs = Graph(
        PairGraph(head.widths, head.relations),
        {"words": {0: "windows", 1: "words"}, "place": {1: "spans"}, "pairs": {1: "pairs"}},
        ("succession",),
        example=(
            torch.zeros(n_windows, n_words, word_size),
            torch.zeros(3, n_spans, dtype=torch.int64),
            torch.zeros(2, n_pairs, dtype=torch.int64),
        ),
    )
    return HeadGraphs(scores, {PAIRS: pairs})


class SpanGraph(nn.Module):
    """Scores of spans."""

    def __init__(self, head: SpanHead) -> None:
        super().__init__()
        self.widths: WidthEmbedding = head.widths
        self.fragments: FragmentScorer = head.fragments
        self.multilabel = head.multilabel

    def forward(self, words: Tensor, lengths: Tensor, widths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Words, the scores of all spans, and their margins. widths: of spans, less one.

        Shape: (B, N, d), (B,), (W,) -> (B, N, d), (B, N, W, classes), (B, N, W)
        """
        end = torch.arange(words.shape[1])[:, None] + widths  # (N, W)
        scores = self._scores(words, end.clamp(max=words.shape[1] - 1), widths)
        return words, scores, margins(scores, end < lengths[:, None, None], multilabel=self.multilabel)

    def _scores(self, words: Tensor, end: Tensor, widths: Tensor) -> Tensor:
        """Like `FragmentScorer`, but ends are looked up: ONNX has no sliding windows."""
        first = self.fragments.first
        at_start, at_end, at_width = torch.split(first.weight, self.fragments.parts, dim=1)
        starts = linear(words, at_start, first.bias)  # (B, N, H)
        ends = linear(words, at_end)  # (B, N, H)
        hidden = starts.unsqueeze(2) + ends[:, end] + linear(self.widths(widths), at_width)  # (B, N, W, H)
        scores: Tensor = self.fragments.rest(hidden)
        return scores


class PairGraph(nn.Module):
    """The probability that pairs of spans belong to one entity."""

    def __init__(self, widths: WidthEmbedding, relations: RelationScorer) -> None:
        super().__init__()
        self.widths, self.relations = widths, relations

    def forward(self, words: Tensor, place: Tensor, pairs: Tensor) -> Tensor:
        """place: row, start and width less one of each span.  Shape: (B, N, d), (3, K), (2, pairs) -> (pairs,)"""
        return succession(self.relations(words, self.widths(place[2]), place, pairs))
