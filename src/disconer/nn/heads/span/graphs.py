"""The span head as two graphs, for export only: scores of spans, and scores of pairs of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from disconer.nn.heads.exported import Graph, HeadGraphs
from disconer.nn.heads.span.head import SpanHead
from disconer.nn.heads.span.reading import MARGINS, PAIRS, SCORES, WORDS
from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer, WidthEmbedding, margins, succession


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
        """As `FragmentScorer` does it, with ends looked up: ONNX has no sliding windows."""
        first = self.fragments.first
        at_start, at_end, at_width = torch.split(first.weight, self.fragments.parts, dim=1)
        starts = linear(words, at_start, first.bias)  # (B, N, H)
        ends = linear(words, at_end)  # (B, N, H)
        hidden = starts.unsqueeze(2) + ends[:, end] + linear(self.widths(widths), at_width)  # (B, N, W, H)
        scores: Tensor = self.fragments.rest(hidden)
        return scores


class PairGraph(nn.Module):
    """The probability that pairs of spans are of one entity."""

    def __init__(self, widths: WidthEmbedding, relations: RelationScorer) -> None:
        super().__init__()
        self.widths, self.relations = widths, relations

    def forward(self, words: Tensor, place: Tensor, pairs: Tensor) -> Tensor:
        """place: row, start and width less one of each span.  Shape: (B, N, d), (3, K), (2, pairs) -> (pairs,)"""
        return succession(self.relations(words, self.widths(place[2]), place, pairs))
