"""The bare encoder: what a model is measured against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from disconer.nn.arrays import WordArrays, word_arrays
from disconer.nn.encoders.transformer.encoder import TransformerWords
from disconer.nn.reader import Reader
from disconer.nn.runtime import Precision
from disconer.nn.tensors import WordBatch
from disconer.nn.windows import Window
from disconer.store.checkpoint import Model

BATCH = 32  # sentences


class BareEncoder:
    """A copy of a model's encoder that does nothing but its forward pass.

    Of a transformer that is the transformer itself, from ids and mask to its last layer; pieces are not even pooled.
    """

    def __init__(self, model: Model, device: torch.device, precision: Precision = "fp32") -> None:
        encoder = deepcopy(model.network.words.encoder)
        self._words = encoder if isinstance(encoder, TransformerWords) else None
        self.module: nn.Module = encoder if self._words is None else self._words.transformer
        self.module.to(device, torch.bfloat16 if precision == "bf16" else torch.float32).eval()
        self.device = device

    def forward(self, batch: WordBatch) -> Tensor:
        """The vectors of a batch."""
        if self._words is None:
            words: Tensor = self.module(batch)
            return words
        pieces: Tensor = self.module(**self._words.inputs(batch)).last_hidden_state
        return pieces

    @torch.inference_mode()
    def run(self, batches: Iterable[WordBatch]) -> None:
        for batch in batches:
            self.forward(batch)

    def load(self, arrays: Iterable[WordArrays]) -> list[WordBatch]:
        """Batches where the encoder is, so that running it includes neither collation nor copies."""
        return [WordBatch.from_arrays(batch, self.device) for batch in arrays]


def sorted_batches(windows: Sequence[Window], reader: Reader, size: int = BATCH) -> list[WordArrays]:
    """Batches of so many windows, those of like length together."""
    ordered = sorted(windows, key=lambda window: len(window.pieces.ids))
    alone = [[window] for window in ordered]
    return [word_arrays(alone[first : first + size], reader) for first in range(0, len(alone), size)]
