"""The multilabel tagger: for each word and tag, whether the word has it. No CRF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils.rnn import pad_sequence

from disconer.nn.devices import WordBatch, moved
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.heads.tagger.multilabel import MULTILABEL, read_tag_sets
from disconer.nn.heads.tagger.reading import EMISSIONS
from disconer.nn.interfaces import AxisNames
from disconer.nn.reader import Bools
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity


@dataclass(frozen=True, slots=True)
class TagSetTargets:
    """The tags of the words of a batch.

    tags:  Shape: (B, words of the longest, T)
    taught: the words that count.  Shape: (B, words of the longest)
    """

    tags: Tensor
    taught: Tensor

    def to(self, device: torch.device) -> TagSetTargets:
        return TagSetTargets(moved(self.tags, device), moved(self.taught, device))


class TagSets(NamedTuple):
    """Probabilities of tags, on the device; lengths: of the windows, on the CPU.  Shape: (B, N, T)"""

    probabilities: Tensor
    lengths: list[int]


class MultilabelHead(nn.Module):
    """Each tag of each word by itself."""

    def __init__(self, *, labels: Sequence[str], emissions: nn.Sequential) -> None:
        super().__init__()
        self.labels = frozenset(labels)
        self.tags = MULTILABEL.tags(labels)
        self.tag_numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.emissions = emissions

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"tags": self.emissions}

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`."""
        output = f"emissions.{len(self.emissions) - 1}"
        return {f"{output}.{name}": {0: self.tags} for name in ("weight", "bias")}

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> tuple[Bools, Bools]:
        """See `Head`. The tags of each word, and which words count.  Shape: (words, T), (words,)"""
        known = [entity for entity in entities if entity.label in self.labels]
        encoded = MULTILABEL.encode((entity.key for entity in window.within(known)), len(window))
        tags = np.zeros((len(window), len(self.tags)), dtype=bool)
        for word, own in enumerate(encoded.tags):
            tags[word, [self.tag_numbers[tag] for tag in own]] = True
        return tags, window.taught(known)

    def batch_targets(self, targets: Sequence[tuple[Bools, Bools]]) -> TagSetTargets:
        """See `Head`."""
        tags, taught = ([torch.from_numpy(one) for one in column] for column in zip(*targets, strict=True))
        return TagSetTargets(pad_sequence(tags, batch_first=True), pad_sequence(taught, batch_first=True))

    def loss(self, words: Tensor, batch: WordBatch, targets: TagSetTargets) -> Tensor:
        """See `Head`: summed binary cross entropies of all tags."""
        n_words = targets.taught.shape[1]
        scores = self.emissions(words[:, :n_words]).float()
        wanted = targets.tags.to(scores.dtype)
        losses = binary_cross_entropy_with_logits(scores, wanted, reduction="none")
        return losses.where(targets.taught[..., None], 0).sum()

    def launch(self, words: Tensor, batch: WordBatch) -> TagSets:
        """See `Head`."""
        return TagSets(self.emissions(words).float().sigmoid(), batch.lengths)

    def collect(self, launched: TagSets) -> list[list[Found]]:
        """See `Head`."""
        return read_tag_sets(launched.probabilities.cpu().numpy(), launched.lengths, self.tags)


class MultilabelGraph(nn.Module):
    """The emissions of all words, for ONNX only."""

    def __init__(self, head: MultilabelHead) -> None:
        super().__init__()
        self.emissions = head.emissions

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor]:
        """Shape: (B, N, d), (B,) -> (B, N, T)"""
        return (self.emissions(words),)


def multilabel_graphs(head: MultilabelHead) -> HeadGraphs:
    return HeadGraphs(Graph(MultilabelGraph(head), {}, (EMISSIONS,), example=()))
