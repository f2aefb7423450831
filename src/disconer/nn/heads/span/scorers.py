"""Scorers of spans and of pairs of spans: the paper's two MLPs, their first layers factorised.

The span vector is [h_start, h_end, width]. A linear layer over it splits exactly into one product per start, one
per end and one per width, so no tensor of spans x features is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from disconer.nn.heads.span.reading import NONE
from disconer.nn.heads.span.targets import Relation
from disconer.nn.layers import mlp

PRIOR = 2.0  # initial biases of the fragment scorer: a label starts at odds of e^-4


def _expect_none(output: nn.Module) -> None:
    """Initialise biases so that spans are not fragments, as most are not: class 0 high, the others low."""
    assert isinstance(output, nn.Linear)
    with torch.no_grad():
        output.bias.fill_(-PRIOR)
        output.bias[0] = PRIOR


class WidthEmbedding(nn.Module):
    """A vector for each span width; widths past the table share its last row."""

    def __init__(self, *, max_width: int, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(max_width, size)

    def forward(self, width: Tensor) -> Tensor:
        vectors: Tensor = self.table(width.clamp(max=self.table.num_embeddings - 1))
        return vectors


class FragmentScorer(nn.Module):
    """Scores every span up to a width for every class: MLP([h_start, h_end, width])."""

    def __init__(
        self, *, word_size: int, width_size: int, hidden: Sequence[int], n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        sizes = [*hidden, n_classes]
        self.parts = [word_size, word_size, width_size]
        self.first = nn.Linear(sum(self.parts), sizes[0])
        self.rest = mlp(sizes, dropout)
        _expect_none(self.rest[-1] if hidden else self.first)

    @property
    def output(self) -> str:
        """The name of the layer that has a row for each class."""
        return f"rest.{len(self.rest) - 1}" if len(self.rest) else "first"

    def forward(self, words: Tensor, widths: Tensor) -> Tensor:
        """Scores of the spans [i, i + w] of the concatenated words of all sentences.

        words:  Shape: (N, d).  widths: the vectors of widths 0 to W - 1.  Shape: (W, d_w)
        Returns:  Shape: (N, W, classes); the scores of spans past the end of a sentence are meaningless.
        """
        at_start, at_end, at_width = torch.split(self.first.weight, self.parts, dim=1)
        starts = linear(words, at_start, self.first.bias)  # (N, H)
        ends = linear(words, at_end)  # (N, H)
        n_widths = len(widths)
        reached = pad(ends, (0, 0, 0, n_widths - 1)).unfold(0, n_widths, 1)  # (N, H, W): ends at i + w
        hidden = starts.unsqueeze(1) + reached.transpose(1, 2) + linear(widths, at_width)  # (N, W, H)
        scores: Tensor = self.rest(hidden)
        return scores


class RelationScorer(nn.Module):
    """Scores pairs of spans for every relation: MLP([s, s * s', s'])."""

    def __init__(
        self, *, word_size: int, width_size: int, hidden: Sequence[int], n_classes: int, dropout: float
    ) -> None:
        super().__init__()
        sizes = [*hidden, n_classes]
        self.size = 2 * word_size + width_size
        self.first = nn.Linear(3 * self.size, sizes[0])
        self.rest = mlp(sizes, dropout)

    def forward(self, words: Tensor, widths: Tensor, place: Tensor, pairs: Tensor) -> Tensor:
        """Scores of pairs of spans.

        words:  Shape: (B, N, d).  widths: the vector of each span's width.  Shape: (K, d_w)
        place: row, start and width less one of each span.  Shape: (3, K)
        pairs: of spans, by position.  Shape: (2, pairs)
        Returns:  Shape: (pairs, classes)
        """
        row, start, width = place
        vectors = torch.cat([words[row, start], words[row, start + width], widths.to(words)], dim=-1)  # (K, size)
        of_first, of_both, of_second = torch.split(self.first.weight, self.size, dim=1)
        first, second = pairs
        hidden = (
            linear(vectors, of_first, self.first.bias)[first]
            + linear(vectors, of_second)[second]
            + linear(vectors[first] * vectors[second], of_both)
        )  # (pairs, H)
        scores: Tensor = self.rest(hidden)
        return scores


def margins(scores: Tensor, exists: Tensor, *, multilabel: bool) -> Tensor:
    """The score of a span's best label minus that of no fragment; minus infinity for spans that do not exist.

    Shape: (…, classes), (…) -> (…)
    """
    best = scores[..., 1:].amax(-1)
    margin = best if multilabel else best - scores[..., NONE]
    return margin.masked_fill(~exists, -torch.inf)


def succession(scores: Tensor) -> Tensor:
    """The probability that pairs of spans belong to one entity; 0 where another relation is more probable.

    Shape: (pairs, relations) -> (pairs,)
    """
    probabilities = scores.softmax(-1)
    likeliest = probabilities.argmax(-1) == Relation.SUCCESSION
    return torch.where(likeliest, probabilities[:, Relation.SUCCESSION], 0.0)
