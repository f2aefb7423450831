"""The span head's scores as evidence for actions of the transition head, and the layer that uses it.

An action asks about sets of words, as fragments and pairs of them (`WordSets`, NumPy); the scores of the span head
answer (`SpanEvidence`), and become hidden units of the scorer of actions (`EvidenceLayer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from disconer.nn.devices import moved
from disconer.nn.heads.span.head import SpanHead
from disconer.nn.heads.span.targets import Relation
from disconer.nn.heads.transition.actions import JOINING, Span, State, ranges_of
from disconer.nn.reader import Ints

ASKED = ("top", "second", "third", "joined")
NOTHING = 0  # the number of no set


def asked_about(state: State, n_words: int) -> tuple[Span, ...]:
    """The spans on top of the stack, and the one that joining the first two would make; 0 in place of none.

    >>> [bin(span) for span in asked_about(State(3, (0b1, 0b100)), 3)]
    ['0b100', '0b1', '0b0', '0b101']
    """
    top, second, third = (*state.stack[:-4:-1], 0, 0, 0)[:3]
    return top, second, third, top | second if state.valid(n_words)[JOINING] else 0


class WordSets(NamedTuple):
    """Different sets of words, numbered from 1.

    asked: of each action, the numbers of the sets that it asks about.  Shape: (T, 4)
    fragments: row, start, width less one and set of each fragment.  Shape: (4, K)
    pairs: two fragments of a set, by position, one after the other, and the set.  Shape: (3, P)
    n_sets: how many there are.
    """

    asked: Ints
    fragments: Ints
    pairs: Ints
    n_sets: int


def word_sets(rows: Sequence[int], asked: Sequence[Sequence[Span]]) -> WordSets:
    """rows: the window of each action.  asked: what each asks about."""
    numbers: dict[tuple[int, Span], int] = {(row, 0): NOTHING for row in rows}
    fragments: list[tuple[int, int, int, int]] = []
    pairs: list[tuple[int, int, int]] = []
    n_sets = 0
    for row, span in ((row, span) for row, own in zip(rows, asked, strict=True) for span in own):
        if (row, span) not in numbers:
            n_sets += 1
            numbers[row, span] = n_sets
            first = len(fragments)
            fragments += [(row, start, end - start - 1, n_sets) for start, end in ranges_of(span)]
            pairs += [(one, other, n_sets) for one, other in pairwise(range(first, len(fragments)))]
    named = [[numbers[row, span] for span in own] for row, own in zip(rows, asked, strict=True)]
    return WordSets(
        np.array(named, dtype=np.int64).reshape(-1, len(ASKED)),
        np.array(fragments, dtype=np.int64).reshape(-1, 4).T,
        np.array(pairs, dtype=np.int64).reshape(-1, 3).T,
        n_sets,
    )


def together(windows: Sequence[WordSets]) -> WordSets:
    """The sets of windows, each a row; what their actions ask about is padded with nothing.  Shape: (B, T, 4)"""
    sets = np.cumsum([0, *(one.n_sets for one in windows)])
    places = np.cumsum([0, *(one.fragments.shape[1] for one in windows)])
    asked = np.full((len(windows), max(len(one.asked) for one in windows), len(ASKED)), NOTHING)
    for row, one in enumerate(windows):
        asked[row, : len(one.asked)] = np.where(one.asked == NOTHING, NOTHING, one.asked + sets[row])
    fragments = [one.fragments + np.array([[row], [0], [0], [sets[row]]]) for row, one in enumerate(windows)]
    pairs = [one.pairs + np.array([[places[row]], [places[row]], [sets[row]]]) for row, one in enumerate(windows)]
    return WordSets(asked, np.concatenate(fragments, 1), np.concatenate(pairs, 1), int(sets[-1]))


@dataclass(frozen=True, slots=True)
class SetBatch:
    """Sets of words of a batch, as in `WordSets`.

    asked:  Shape: (B, T, 4)
    """

    asked: Tensor
    fragments: Tensor
    pairs: Tensor
    n_sets: int

    def to(self, device: torch.device) -> SetBatch:
        asked, fragments, pairs = (moved(one, device) for one in (self.asked, self.fragments, self.pairs))
        return SetBatch(asked, fragments, pairs, self.n_sets)


class SpanEvidence:
    """What the span head says of a batch. No gradient leads back to it: it learns from its own loss.

    words:  Shape: (B, N, d)
    scores, exists: of all spans.  Shape: (B, N, W, classes), (B, N, W)
    """

    def __init__(self, head: SpanHead, words: Tensor, scores: Tensor, exists: Tensor) -> None:
        self.head, self.words = head, words.detach()
        probabilities = scores[..., 1:].sigmoid() if head.multilabel else scores.softmax(-1)[..., 1:]
        self.probabilities = probabilities.detach().masked_fill(~exists[..., None], 0)  # (B, N, W, labels)
        nowhere = self.probabilities.new_zeros(len(words), 1, probabilities.shape[-1])
        self.covering = torch.cat([covering(self.probabilities), nowhere], 1)  # (B, N + 1, labels)

    @torch.no_grad()
    def __call__(self, sets: SetBatch, row: Tensor, front: Tensor) -> Tensor:
        """The evidence for actions. front: the next word, -1 for none.

        Shape: (B, 1), (B, T) -> (B, T, 4 * (labels + 1) + labels)
        """
        return torch.cat([self.of_sets(sets)[sets.asked].flatten(2), self.covering[row, front]], -1)

    def of_sets(self, sets: SetBatch) -> Tensor:
        """Of each set, the probability of each label of its least probable fragment, 0 if one is too wide; and that of
        succession of its least probable pair. 0 for no set.  Shape: (1 + sets, labels + 1)
        """
        row, start, width, own = sets.fragments
        n_widths = self.probabilities.shape[2]
        labels = self.probabilities[row, start, width.clamp(max=n_widths - 1)]  # (K, labels)
        labels = labels.masked_fill((width >= n_widths)[:, None], 0)
        succession = self._succession(sets)[:, None]  # (P, 1)
        return torch.cat([_least(labels, own, sets.n_sets), _least(succession, sets.pairs[2], sets.n_sets)], -1)

    def _succession(self, sets: SetBatch) -> Tensor:
        """The probability that pairs of fragments belong to one entity.  Shape: (P,)"""
        pairs = sets.pairs[:2]
        if self.head.relations is None or not pairs.shape[1]:
            return self.probabilities.new_zeros(pairs.shape[1])
        scores = self.head.relation_scores(self.words, sets.fragments[:3], pairs)
        return scores.softmax(-1)[:, Relation.SUCCESSION]


def _least(values: Tensor, own: Tensor, n_sets: int) -> Tensor:
    """Of each set, the least of its values; 1 if it has none, 0 for no set.  Shape: (K, C), (K,) -> (1 + sets, C)"""
    least = values.new_ones(1 + n_sets, values.shape[1])
    least[0] = 0
    return least.scatter_reduce(0, own[:, None].expand_as(values), values, "amin")


def covering(probabilities: Tensor) -> Tensor:
    """Of each word, the highest probability of each label of all spans that it is in.

    Shape: (B, N, W, labels) -> (B, N, labels)
    """
    at_least = probabilities.flip(2).cummax(2).values.flip(2)  # of spans from a word on, of at least a width
    best = at_least[:, :, 0]
    for before in range(1, probabilities.shape[2]):  # of spans that start this many words before
        reaching = torch.maximum(best[:, before:], at_least[:, :-before, before])
        best = torch.cat([best[:, :before], reaching], 1)
    return best


class EvidenceLayer(nn.Module):
    """From evidence to hidden units of the scorer of actions."""

    def __init__(self, *, n_labels: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(len(ASKED) * (n_labels + 1) + n_labels, hidden, bias=False)

    def forward(self, evidence: Tensor) -> Tensor:
        """Shape: (B, T, evidence) -> (B, T, hidden)"""
        hidden: Tensor = self.linear(self.dropout(evidence.to(self.linear.weight.dtype)))
        return hidden


def evidence_names(labels: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """What each number of evidence is about; None for succession.

    >>> evidence_names(["Drug"])[:2], evidence_names(["Drug"])[-1]
    ((('top', 'Drug'), ('top', None)), ('front', 'Drug'))
    """
    of_sets = ((what, label) for what in ASKED for label in (*labels, None))
    return *of_sets, *(("front", label) for label in labels)
