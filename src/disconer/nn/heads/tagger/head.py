"""The tagger: scores of tags for each word, and a linear-chain CRF over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from disconer.nn.devices import WordBatch, moved
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.heads.tagger.crf import LinearChainCrf, Segments
from disconer.nn.heads.tagger.multilabel import MULTILABEL
from disconer.nn.heads.tagger.multilabel_head import MultilabelHead
from disconer.nn.heads.tagger.reading import ANY, CRF_SCORES, EMISSIONS, read_entities
from disconer.nn.heads.tagger.schemes import Scheme
from disconer.nn.interfaces import AxisNames
from disconer.nn.layers import mlp, prior_bias
from disconer.nn.reader import Ints
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

RARE = 0.02  # the first probability of a tag, where each is decided by itself


@dataclass(frozen=True, slots=True)
class TagTargets:
    """The tags of the windows of a batch, by number; 0 for padding, ANY where nothing is learned.

    tags:  Shape: (B, words of the longest)
    complete: no window has a word without a tag.
    """

    tags: Tensor
    complete: bool

    def to(self, device: torch.device) -> TagTargets:
        return replace(self, tags=moved(self.tags, device))


class Tagged(NamedTuple):
    """The network's outputs for a batch, on its device.

    emissions:  Shape: (B, N, T)
    best: the likeliest tags.  Shape: (B, N)
    n_words:  Shape: (B,)
    lengths: the same, on the CPU.
    """

    emissions: Tensor
    best: Tensor
    n_words: Tensor
    lengths: list[int]


class TaggerHead(nn.Module):
    """Emissions from word vectors, the CRF's likelihood in training, its best path in prediction."""

    def __init__(self, *, labels: Sequence[str], scheme: Scheme, emissions: nn.Sequential, crf: LinearChainCrf) -> None:
        super().__init__()
        self.labels, self.scheme = frozenset(labels), scheme
        self.tags = scheme.tags(labels)
        self.tag_numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.emissions, self.crf = emissions, crf

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"tags": self.emissions}

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`."""
        output = f"emissions.{len(self.emissions) - 1}"
        by_tag = (f"{output}.weight", f"{output}.bias", "crf.start", "crf.end")
        return {name: {0: self.tags} for name in by_tag} | {"crf.transitions": {0: self.tags, 1: self.tags}}

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> Ints:
        """See `Head`. The number of each word's tag.  Shape: (words,)

        Words that the window does not teach have no tag.
        """
        known = [entity for entity in entities if entity.label in self.labels]
        encoded = self.scheme.encode((entity.key for entity in window.within(known)), len(window))
        numbers = np.array([self.tag_numbers[tag] for tag in encoded.tags], dtype=np.int64)
        return np.where(window.taught(known), numbers, ANY)

    def batch_targets(self, targets: Sequence[Ints]) -> TagTargets:
        """See `Head`."""
        tags = pad_sequence([torch.from_numpy(one) for one in targets], batch_first=True)
        return TagTargets(tags, complete=bool((tags != ANY).all()))

    def loss(self, words: Tensor, batch: WordBatch, targets: TagTargets) -> Tensor:
        """See `Head`: minus the log probability of the tags."""
        emissions = self._emissions(words, batch)
        n_words = batch.word_mask.sum(-1)
        tags = pad(targets.tags, (0, emissions.shape[1] - targets.tags.shape[1]))
        if targets.complete:
            scores = self.crf.path_scores(emissions, tags, batch.word_mask)
        else:
            scores = self.crf.partial_scores(emissions, tags, n_words)
        return (self.crf.log_partition(emissions, n_words) - scores).sum()

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> Tagged:
        """See `Head`."""
        emissions, n_words = self._emissions(words, batch), batch.word_mask.sum(-1)
        return Tagged(emissions, self.crf.viterbi(emissions, n_words), n_words, batch.lengths)

    def collect(self, launched: Tagged) -> list[list[Found]]:
        """See `Head`."""
        emissions, best, n_words, lengths = launched
        entities = read_entities(best.cpu().numpy(), lengths, tags=self.tags, scheme=self.scheme)
        rows = np.unique(entities.asked.row)  # sentences without entities need no sums
        place = torch.from_numpy(np.searchsorted(rows, entities.asked.row))
        if not len(rows):
            return [[] for _ in lengths]
        chosen = torch.from_numpy(rows).to(best.device)
        asked = Segments(place, *(torch.from_numpy(column) for column in entities.asked[1:]))
        segments = Segments(*(column.to(best.device) for column in asked))
        probabilities = self.crf.segment_probabilities(emissions[chosen], n_words[chosen], segments)
        return entities.scored(probabilities.cpu().numpy(), n_rows=len(lengths))

    # Both

    def _emissions(self, words: Tensor, batch: WordBatch) -> Tensor:
        """Scores of each tag for each word; 0 for padding, which is left out.  Shape: (B, N, T)"""
        real = batch.real_words
        scores: Tensor = self.emissions(words.flatten(0, 1)[real]).float()  # (K, T)
        everywhere = scores.new_zeros(words.shape[0] * words.shape[1], scores.shape[1]).index_copy(0, real, scores)
        return everywhere.view(*words.shape[:2], -1)


def _scorer(word_size: int, sizes: Sequence[int], dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Linear(word_size, sizes[0]), *mlp(sizes, dropout))


def build_multilabel(*, labels: Sequence[str], word_size: int, hidden: Sequence[int], dropout: float) -> MultilabelHead:
    emissions = _scorer(word_size, [*hidden, len(MULTILABEL.tags(labels))], dropout)
    output = emissions[-1]
    assert isinstance(output, nn.Linear)
    nn.init.constant_(output.bias, prior_bias(RARE))
    return MultilabelHead(labels=labels, emissions=emissions)


def build_tagger(
    *, labels: Sequence[str], scheme: Scheme, word_size: int, hidden: Sequence[int], dropout: float
) -> TaggerHead:
    tags = scheme.tags(labels)
    may = scheme.transitions(tags)
    return TaggerHead(
        labels=labels,
        scheme=scheme,
        emissions=_scorer(word_size, [*hidden, len(tags)], dropout),
        crf=LinearChainCrf(
            len(tags),
            may_start=torch.from_numpy(may.start),
            may_follow=torch.from_numpy(may.between),
            may_end=torch.from_numpy(may.end),
        ),
    )


class TaggerGraph(nn.Module):
    """The emissions of all words, and the scores of the CRF, for ONNX only."""

    def __init__(self, head: TaggerHead) -> None:
        super().__init__()
        self.emissions, self.crf = head.emissions, head.crf

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """Shape: (B, N, d), (B,) -> (B, N, T), (T,), (T, T), (T,)"""
        return (self.emissions(words), *self.crf.scores())


def tagger_graphs(head: TaggerHead) -> HeadGraphs:
    return HeadGraphs(Graph(TaggerGraph(head), {}, (EMISSIONS, *CRF_SCORES), example=()))
