"""The span head: enumerate spans, classify fragments, classify relations, read entities off as maximal cliques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from disconer.nn.heads.span.decisions import (
    NONE,
    Floats,
    Fragments,
    SpanPlaces,
    at_most_one_a_word,
    decide,
    pairs_within_rows,
    possible_pairs,
)
from disconer.nn.heads.span.reading import read_entities
from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer, WidthEmbedding
from disconer.nn.heads.span.target_tensors import Relation, SpanTargetBatch, relation_classes, span_target_batch
from disconer.nn.heads.span.targets import SpanTargets, span_targets
from disconer.nn.reader import Ints
from disconer.nn.tensors import WordBatch
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

IGNORED = -100  # the class of spans that do not exist, which the loss passes over
PAIRS_AT_ONCE = 2**14  # scored in prediction, where 500 fragments in a window would else need gigabytes


class SpanScores(NamedTuple):
    """What the network says of a batch, on its device.

    words:  Shape: (B, N, d)
    scores: of all spans.  Shape: (B, N, W, classes)
    above: which of them are more likely a fragment than none.  Shape: (B, N, W)
    lengths: words of each window.
    """

    words: Tensor
    scores: Tensor
    above: Tensor
    lengths: list[int]


class SpanHead(nn.Module):
    """The paper's sections 3.3 to 3.5.

    labels: the entity types.
    max_width: words of the widest span; None for all.
    several: a span may have several labels (each against NONE by a threshold) or one (softmax, as in the paper).
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
        several: bool,
        alpha: float,
        beta: float,
    ) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.label_numbers = {label: number for number, label in enumerate(self.labels)}
        self.max_width, self.several, self.overlapping = max_width, several, overlapping
        self.alpha, self.beta = alpha, beta
        self.widths, self.fragments, self.relations = widths, fragments, relations

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> SpanTargets:
        """See `Head`. Entities of labels that this head does not know are left out."""
        known = [entity for entity in entities if entity.label in self.label_numbers]
        return span_targets(window.within(known), self.max_width)

    def batch_targets(self, targets: Sequence[SpanTargets]) -> SpanTargetBatch:
        """See `Head`."""
        return span_target_batch(targets, self.label_numbers)

    def loss(self, words: Tensor, batch: WordBatch, targets: SpanTargetBatch) -> Tensor:
        """Alpha * NLL(fragments) + beta * NLL(relations), summed over the batch."""
        scores, exists = self._span_scores(words, batch)
        valid = exists & batch.own_mask[:, :, None]  # where windows overlap, a span is learnt in one of them
        loss = self.alpha * self._fragment_loss(scores, valid, targets)
        if self.relations is not None:
            candidates = self._candidates(scores.detach(), valid, batch.lengths, targets)
            loss = loss + self.beta * self._relation_loss(words, candidates, targets)
        return loss

    def _fragment_loss(self, scores: Tensor, valid: Tensor, targets: SpanTargetBatch) -> Tensor:
        gold, place = targets.labels, tuple(targets.place)
        if self.several:
            wanted = torch.zeros_like(scores[..., 1:])  # (B, N, W, labels)
            wanted[place] = gold.to(wanted)
            weight = valid[..., None].to(wanted)
            return binary_cross_entropy_with_logits(scores[..., 1:], wanted, weight, reduction="sum")
        classes = torch.where(valid, NONE, IGNORED)  # (B, N, W)
        # Gold spans of other windows are not valid here and stay ignored.
        classes[place] = torch.where(valid[place], gold.int().argmax(-1) + 1, IGNORED)
        return cross_entropy(scores.flatten(0, 2), classes.flatten(), ignore_index=IGNORED, reduction="sum")

    def _candidates(
        self, scores: Tensor, valid: Tensor, lengths: Sequence[int], targets: SpanTargetBatch
    ) -> SpanPlaces:
        """Gold and predicted fragments, sorted."""
        margin = self._margins(scores)
        chosen = (margin > 0) & valid
        chosen[tuple(targets.place)] = True
        place = chosen.nonzero(as_tuple=True)
        spans, margin_here = _fetch(place), margin[place].cpu().numpy()
        kept = at_most_one_a_word(spans.row, margin_here, lengths)
        if not kept.all():
            n_words = scores.shape[1]
            kept |= np.isin(spans.keys(n_words), targets.spans.keys(n_words))
        return spans[kept]

    def _relation_loss(self, words: Tensor, spans: SpanPlaces, targets: SpanTargetBatch) -> Tensor:
        pairs = pairs_within_rows(spans.row)
        classes = relation_classes(spans, pairs, targets, words.shape[1], overlapping=self.overlapping)
        scores = self._relation_scores(words, spans, pairs)
        return cross_entropy(scores, torch.from_numpy(classes).to(scores.device), reduction="sum")

    # Prediction

    def begin(self, words: Tensor, batch: WordBatch) -> SpanScores:
        """See `Head`."""
        scores, exists = self._span_scores(words, batch)
        return SpanScores(words, scores, (self._margins(scores) > 0) & exists, batch.lengths)

    def finish(self, begun: SpanScores) -> list[list[Found]]:
        """See `Head`."""
        place = begun.above.nonzero(as_tuple=True)
        scores = begun.scores[place].cpu().numpy()
        fragments = decide(_fetch(place), scores, begun.lengths, several=self.several)
        pairs, succession = self._succession(begun.words, fragments)
        return read_entities(fragments, pairs, succession, self.labels, n_rows=len(begun.lengths))

    def _succession(self, words: Tensor, fragments: Fragments) -> tuple[Ints, Floats]:
        """Pairs that could be of one entity, and the probability that they are; 0 if that is not likeliest."""
        pairs = possible_pairs(fragments)
        if self.relations is None or not pairs.size:
            return np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32)
        chances = torch.cat(
            [
                self._relation_scores(words, fragments.spans, pairs[:, first : first + PAIRS_AT_ONCE]).softmax(-1)
                for first in range(0, pairs.shape[1], PAIRS_AT_ONCE)
            ]
        )
        likeliest = chances.argmax(-1) == Relation.SUCCESSION
        return pairs, torch.where(likeliest, chances[:, Relation.SUCCESSION], 0).cpu().numpy()

    # Both

    def _span_scores(self, words: Tensor, batch: WordBatch) -> tuple[Tensor, Tensor]:
        """Scores of all spans, and which of them exist.  Shape: (B, N, W, classes), (B, N, W)

        Padding is left out before spans are scored, as a batch of unlike sentences is padding for the most part.
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

    def _margins(self, scores: Tensor) -> Tensor:
        """By how much the best label of a span beats its being no fragment.  Shape: (B, N, W)"""
        best = scores[..., 1:].amax(-1)
        return best if self.several else best - scores[..., NONE]

    def _relation_scores(self, words: Tensor, spans: SpanPlaces, pairs: Ints) -> Tensor:
        """Shape: (pairs, relations)"""
        assert self.relations is not None
        place = torch.from_numpy(np.stack([spans.row, spans.start, spans.end - spans.start - 1])).to(words.device)
        on_device = torch.from_numpy(pairs).to(words.device)
        scores: Tensor = self.relations(words, self.widths(place[2]), place, on_device)
        return scores.float()


def _fetch(place: tuple[Tensor, ...]) -> SpanPlaces:
    """Spans at (row, start, width less one), brought to the CPU at once."""
    row, start, width = torch.stack(place).cpu().numpy()
    return SpanPlaces(row, start, start + width + 1)
