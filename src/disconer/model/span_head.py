"""The span head: enumerate spans, classify fragments, classify relations, read entities off as maximal cliques."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from disconer.model.batch import WordBatch
from disconer.model.found import Found
from disconer.model.scorers import FragmentScorer, RelationScorer, Spans, WidthEmbedding
from disconer.model.span_reading import Fragments, read_entities
from disconer.model.span_targets import SpanTargetBatch, span_target_batch
from disconer.model.windows import Window
from disconer.span.targets import SpanTargets, span_targets
from disconer.text.align import TokenEntity

NONE = 0  # the class of spans that are no fragment; label number n is class n + 1
THRESHOLD = 0.5  # of a label's probability where a span may have several
PAIRS_AT_ONCE = 2**14  # scored in prediction, where 500 fragments in a window would else need gigabytes


class Relation(IntEnum):
    """The classes of fragment pairs."""

    OTHER = 0
    SUCCESSION = 1
    OVERLAPPING = 2


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
            candidates = self._candidates(scores.detach(), valid, targets)
            loss = loss + self.beta * self._relation_loss(words, candidates, targets)
        return loss

    def _fragment_loss(self, scores: Tensor, valid: Tensor, targets: SpanTargetBatch) -> Tensor:
        gold, place = targets.labels, (targets.spans.row, targets.spans.start, targets.spans.width)
        if self.several:
            wanted = torch.zeros_like(scores[..., 1:])  # (B, N, W, labels)
            wanted[place] = gold.to(wanted)
            return binary_cross_entropy_with_logits(scores[..., 1:][valid], wanted[valid], reduction="sum")
        classes = torch.full(valid.shape, NONE, device=valid.device)  # (B, N, W)
        classes[place] = gold.int().argmax(-1) + 1
        return cross_entropy(scores[valid], classes[valid], reduction="sum")

    def _candidates(self, scores: Tensor, valid: Tensor, targets: SpanTargetBatch) -> Spans:
        """Gold and predicted fragments, sorted."""
        chosen = self._fragments(scores, valid)
        chosen[targets.spans.row, targets.spans.start, targets.spans.width] = True
        row, start, width = chosen.nonzero(as_tuple=True)
        return Spans(row, start, start + width)

    def _relation_loss(self, words: Tensor, spans: Spans, targets: SpanTargetBatch) -> Tensor:
        assert self.relations is not None
        pairs = _pairs_within_rows(spans)
        scores = self.relations(words, self.widths(spans.width), spans, pairs).float()
        return cross_entropy(scores, self._relation_classes(spans, pairs, targets, words.shape[1]), reduction="sum")

    def _relation_classes(self, spans: Spans, pairs: Tensor, targets: SpanTargetBatch, n_words: int) -> Tensor:
        """The gold relation of each pair of candidates.  Shape: (pairs,)"""
        keys, gold_keys = _keys(spans, n_words), _keys(targets.spans, n_words)
        size = n_words * n_words  # a key's room within its row; the first key already names the row
        pair_keys = keys[pairs[0]] * size + keys[pairs[1]] % size
        gold_pairs = gold_keys[targets.succession]
        succession = torch.isin(pair_keys, gold_pairs[0] * size + gold_pairs[1] % size)
        classes = torch.where(succession, Relation.SUCCESSION, Relation.OTHER)
        if self.overlapping:
            is_gold = torch.isin(keys, gold_keys)
            share = spans.start[pairs[1]] <= spans.end[pairs[0]]  # sorted: the second never starts first
            classes[share & is_gold[pairs[0]] & is_gold[pairs[1]]] = Relation.OVERLAPPING
        return classes

    # Prediction

    def find(self, words: Tensor, batch: WordBatch) -> list[list[Found]]:
        """See `Head`."""
        scores, exists = self._span_scores(words, batch)
        chosen = self._fragments(scores, exists)
        row, start, width = chosen.nonzero(as_tuple=True)
        spans = Spans(row, start, start + width)
        chances = scores[row, start, width]  # (K, classes)
        chances = chances[:, 1:].sigmoid() if self.several else chances.softmax(-1)[:, 1:]  # (K, labels)
        labelled = chances > THRESHOLD if self.several else chances == chances.amax(-1, keepdim=True)
        pairs, succession = self._succession(words, spans, labelled)
        fragments = Fragments.from_tensors(spans, chances, labelled, pairs, succession)
        return read_entities(fragments, self.labels, n_rows=words.shape[0])

    def _succession(self, words: Tensor, spans: Spans, labelled: Tensor) -> tuple[Tensor, Tensor]:
        """Pairs that could be fragments of one entity, and the probability that they are."""
        if self.relations is None or len(spans) < 2:
            return spans.row.new_zeros(2, 0), words.new_zeros(0)
        pairs = _pairs_within_rows(spans)
        apart = spans.end[pairs[0]] + 1 < spans.start[pairs[1]]
        alike = (labelled[pairs[0]] & labelled[pairs[1]]).any(-1)
        pairs = pairs[:, apart & alike]
        widths = self.widths(spans.width)
        scores = torch.cat(
            [
                self.relations(words, widths, spans, some).float().softmax(-1)
                for some in torch.split(pairs, PAIRS_AT_ONCE, dim=1)
            ]
        )
        return pairs, torch.where(scores.argmax(-1) == Relation.SUCCESSION, scores[:, Relation.SUCCESSION], 0)

    # Both

    def _span_scores(self, words: Tensor, batch: WordBatch) -> tuple[Tensor, Tensor]:
        """Scores of all spans, and which of them exist.  Shape: (B, N, W, classes), (B, N, W)"""
        n_words = words.shape[1]
        n_widths = n_words if self.max_width is None else min(self.max_width, n_words)
        width = torch.arange(n_widths, device=words.device)
        scores = self.fragments(words, self.widths(width)).float()
        end = torch.arange(n_words, device=words.device)[:, None] + width  # (N, W)
        lengths = batch.word_mask.sum(-1)
        return scores, end < lengths[:, None, None]

    def _fragments(self, scores: Tensor, valid: Tensor) -> Tensor:
        """Which spans are fragments, at most one a word, so that an untrained head does not pair everything.

        Shape: (B, N, W)
        """
        against = 0.0 if self.several else scores[..., NONE]
        margin = (scores[..., 1:].amax(-1) - against).masked_fill(~valid, float("-inf"))
        n_words = valid[:, :, 0].sum(-1)  # (B,): a word is a span, too
        highest = margin.flatten(1).topk(scores.shape[1]).values  # (B, N)
        least = highest.gather(1, (n_words - 1).clamp(min=0)[:, None])  # (B, 1)
        return (margin > 0) & (margin >= least[:, :, None])


def _pairs_within_rows(spans: Spans) -> Tensor:
    """All pairs of spans of one window, the earlier first.  Shape: (2, pairs)"""
    same = spans.row[:, None] == spans.row[None, :]
    return same.triu(1).nonzero().T


def _keys(spans: Spans, n_words: int) -> Tensor:
    """One number a span, in the order of row, start, end.  Shape: (K,)"""
    return (spans.row * n_words + spans.start) * n_words + spans.end
