"""A linear-chain conditional random field (Lafferty et al. 2001) over the tags of a sentence.

Shapes: B sentences, N words of the longest, T tags. Padding stands at the end of a sentence; every sentence has at
least one word. Sums over paths are computed in log space, in float32 whatever the dtype of the emissions, and word
by word: there are no matrix products, so autocast has no effect.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from disconer.nn.heads.tagger.reading import ANY

FORBIDDEN = -1e4  # the score of a forbidden transition; finite, so that gradients are
IMPOSSIBLE = -1e30  # the log of a sum over no paths
NEGLIGIBLE = -80.0  # e to this is lost when added to 1 in float32
INITIAL = 0.1  # transitions are drawn from [-INITIAL, INITIAL]
SEGMENTS_AT_ONCE = 2**10  # bounds memory: an untrained model may find thousands


class Segments(NamedTuple):
    """Stretches of words and conditions on their tags, S of them, each of at most W words (`reading.Asked`).

    row: the sentence in the batch.  Shape: (S,)
    first, end: its words, half-open.  Shape: (S,)
    only: the tag that a word must have; ANY if it may have all.  Shape: (S, W)
    never: a tag that a word must not have; ANY if there is none.  Shape: (S, W)
    """

    row: Tensor
    first: Tensor
    end: Tensor
    only: Tensor
    never: Tensor


class Paths(NamedTuple):
    """Log sums over the paths of a sentence.

    forward: over the tags before a word, with the word's own emission.  Shape: (B, N, T)
    backward: over the tags after a word, without the word's own emission.  Shape: (B, N, T)
    log_partition: over all paths.  Shape: (B,)
    """

    forward: Tensor
    backward: Tensor
    log_partition: Tensor


class LinearChainCrf(nn.Module):
    """Scores of tag sequences: emissions, transitions between tags, and tags that start and end a sentence.

    may_start, may_follow, may_end: which tags and transitions are allowed; None for all. The others have
    probability 0 in training and prediction.  Shape: (T,), (T, T) from row to column, (T,)
    """

    may_start: Tensor
    may_follow: Tensor
    may_end: Tensor

    def __init__(
        self,
        n_tags: int,
        *,
        may_start: Tensor | None = None,
        may_follow: Tensor | None = None,
        may_end: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.empty(n_tags, n_tags).uniform_(-INITIAL, INITIAL))
        self.start = nn.Parameter(torch.empty(n_tags).uniform_(-INITIAL, INITIAL))
        self.end = nn.Parameter(torch.empty(n_tags).uniform_(-INITIAL, INITIAL))
        # They follow from the tags, so checkpoints do not store them.
        self.register_buffer("may_start", _allowed(may_start, n_tags), persistent=False)
        self.register_buffer("may_follow", _allowed(may_follow, n_tags, n_tags), persistent=False)
        self.register_buffer("may_end", _allowed(may_end, n_tags), persistent=False)

    # Training

    def path_scores(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The score of one tag sequence for each sentence, not normalised.  Shape: (B,)

        emissions:  Shape: (B, N, T)
        tags: of padding, any tag.  Shape: (B, N)
        mask: True for words, False for padding after them.  Shape: (B, N)
        """
        start, between, end = self.scores()
        own = emissions.float().gather(2, tags[:, :, None]).squeeze(2)  # (B, N)
        steps = between[tags[:, :-1], tags[:, 1:]]  # (B, N - 1)
        last = tags.gather(1, mask.sum(-1, keepdim=True) - 1).squeeze(1)  # (B,)
        inner = torch.where(mask, own, 0).sum(-1) + torch.where(mask[:, 1:], steps, 0).sum(-1)
        return start[tags[:, 0]] + inner + end[last]

    def partial_scores(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """The log sum of the scores of all tag sequences that have these tags, not normalised.  Shape: (B,)

        tags: ANY where any tag is allowed.  Shape: (B, N)
        """
        tag = torch.arange(emissions.shape[-1], device=emissions.device)
        allowed = (tags == ANY)[:, :, None] | (tags[:, :, None] == tag)  # (B, N, T)
        return self.log_partition(emissions.float().masked_fill(~allowed, IMPOSSIBLE), lengths)

    def log_partition(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The log sum of the scores of all tag sequences of each sentence.  Shape: (B,)

        lengths: words of each sentence.  Shape: (B,)
        """
        return (self._forward_sums(emissions.float(), lengths)[:, -1] + self.scores()[2]).logsumexp(-1)

    # Prediction

    def viterbi(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The likeliest tags of each sentence; 0 for padding.  Shape: (B, N)"""
        start, between, end = self.scores()
        emissions = emissions.float()
        n_words = emissions.shape[1]
        best = start + emissions[:, 0]  # (B, T): of paths that end in a tag
        stay = torch.arange(best.shape[1], device=best.device).expand_as(best)
        origins = []  # of each word after the first, the tag before each tag on the best path; (B, T)
        for word in range(1, n_words):
            score, origin = (best[:, :, None] + between).max(1)  # (B, T)
            inside = (word < lengths)[:, None]
            best = torch.where(inside, score + emissions[:, word], best)
            origins.append(torch.where(inside, origin, stay))
        tag = (best + end).argmax(-1, keepdim=True)  # (B, 1)
        tags = [tag]
        for origin in reversed(origins):
            tag = origin.gather(1, tag)
            tags.append(tag)
        return torch.where(_inside(lengths, n_words), torch.cat(tags[::-1], 1), 0)

    def segment_probabilities(self, emissions: Tensor, lengths: Tensor, segments: Segments) -> Tensor:
        """The probability that all words of a segment have tags as asked, given the sentence.  Shape: (S,)

        Exact: sums over the paths up to the first word and from the last one on, which are computed once, are
        joined by the paths between them that have the tags asked for.
        """
        emissions = emissions.float()
        paths = self.paths(emissions, lengths)
        probabilities = []
        for first in range(0, max(1, len(segments.row)), SEGMENTS_AT_ONCE):
            chunk = Segments(*(column[first : first + SEGMENTS_AT_ONCE] for column in segments))
            probabilities.append(self._segment_probabilities(emissions, paths, chunk))
        return torch.cat(probabilities)

    def paths(self, emissions: Tensor, lengths: Tensor) -> Paths:
        """Sums over the paths to each word and from it."""
        emissions = emissions.float()
        forward = self._forward_sums(emissions, lengths)
        backward = self._backward_sums(emissions, lengths)
        return Paths(forward, backward, (forward[:, -1] + self.scores()[2]).logsumexp(-1))

    def _segment_probabilities(self, emissions: Tensor, paths: Paths, segments: Segments) -> Tensor:
        between = self.scores()[1]
        row, first, end, only, never = segments
        sums = _as_asked(paths.forward[row, first], only[:, 0], never[:, 0])  # (S, T)
        for step in range(1, int((end - first).max()) if len(row) else 0):
            inside = first + step < end  # (S,)
            word = torch.where(inside, first + step, 0)
            free = (inside & (only[:, step - 1] == ANY)).nonzero().squeeze(1)
            following = _follow(sums, only[:, step - 1], free, between) + emissions[row, word]  # (S, T)
            sums = torch.where(inside[:, None], _as_asked(following, only[:, step], never[:, step]), sums)
        log_sum = (sums + paths.backward[row, end - 1]).logsumexp(-1)  # (S,)
        return (log_sum - paths.log_partition[row]).exp().clamp(max=1)  # rounding may go beyond

    # Both

    def scores(self) -> tuple[Tensor, Tensor, Tensor]:
        """Start, transitions and end; forbidden ones score `FORBIDDEN`. Shape: (T,), (T, T), (T,)"""
        return (
            torch.where(self.may_start, self.start.float(), FORBIDDEN),
            torch.where(self.may_follow, self.transitions.float(), FORBIDDEN),
            torch.where(self.may_end, self.end.float(), FORBIDDEN),
        )

    def _forward_sums(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """See `Paths`. Padding repeats the last word.  Shape: (B, N, T)"""
        start, between, _ = self.scores()
        sums = start + emissions[:, 0]  # (B, T)
        found = [sums]
        for word in range(1, emissions.shape[1]):
            following = _log_sum(sums[:, :, None] + between, 1) + emissions[:, word]  # (B, T)
            sums = torch.where((word < lengths)[:, None], following, sums)
            found.append(sums)
        return torch.stack(found, 1)

    def _backward_sums(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """See `Paths`. Padding repeats the last word.  Shape: (B, N, T)"""
        _, between, end = self.scores()
        sums = end.expand(emissions.shape[0], -1)  # (B, T)
        found = [sums]
        for word in range(emissions.shape[1] - 1, 0, -1):
            before = _log_sum(between + (sums + emissions[:, word])[:, None, :], 2)  # (B, T)
            sums = torch.where((word < lengths)[:, None], before, sums)
            found.append(sums)
        return torch.stack(found[::-1], 1)


def _allowed(given: Tensor | None, *shape: int) -> Tensor:
    if given is None:
        return torch.ones(shape, dtype=torch.bool)
    if given.shape != shape:
        raise ValueError(f"the mask of allowed tags has the shape {tuple(given.shape)}, expected {shape}")
    return given.bool().clone()


def _inside(lengths: Tensor, n_words: int) -> Tensor:
    """Shape: (B, N)"""
    return torch.arange(n_words, device=lengths.device) < lengths[:, None]


def _log_sum(scores: Tensor, dim: int) -> Tensor:
    """Like `torch.logsumexp`, but several times faster on a CPU if many transitions are forbidden.

    Exponentials that underflow are slow there, so values too small to change the sum are raised to `NEGLIGIBLE`.
    """
    largest = scores.detach().amax(dim, keepdim=True)
    return (scores - largest).clamp(min=NEGLIGIBLE).exp().sum(dim).log() + largest.squeeze(dim)


def _follow(sums: Tensor, only: Tensor, free: Tensor, between: Tensor) -> Tensor:
    """Log sums over the tag of a word, for each tag of the next.  Shape: (S, T)

    Almost every word has one tag, so that there is nothing to sum; `free` are the others.
    """
    one = only.clamp(min=0)
    following = sums.gather(1, one[:, None]) + between[one]  # (S, T)
    return following.index_copy(0, free, _log_sum(sums[free][:, :, None] + between, 1))


def _as_asked(sums: Tensor, only: Tensor, never: Tensor) -> Tensor:
    """Log sums of the tags that a word may have; IMPOSSIBLE for the others.  Shape: (S, T)"""
    tag = torch.arange(sums.shape[1], device=sums.device)
    allowed = ((only == ANY)[:, None] | (tag == only[:, None])) & (tag != never[:, None])
    return sums.masked_fill(~allowed, IMPOSSIBLE)
