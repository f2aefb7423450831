"""From the text on disk to tensors on the device."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from disconer.adapt.plan import Batch
from disconer.adapt.sequences import Sequences


class Fed(NamedTuple):
    """A batch on the device.

    seed: of all that is random in it.
    pieces: what a `Masker` takes: pieces (B, L), the numbers of their words (B, L) if words matter, and their cases
        (B, L) if the encoder reads them.
    """

    seed: int
    pieces: tuple[Tensor, Tensor | None, Tensor | None]


class Feed:
    """Makes the tensors of batches. Good to run in the background."""

    def __init__(self, sequences: Sequences, device: torch.device) -> None:
        self._sequences, self._device = sequences, device

    def __call__(self, batch: Batch) -> Fed:
        ids = self._sequences.ids(batch.sequences)
        words, cases = self._sequences.words(batch.sequences), self._sequences.cases(batch.sequences)
        moved_words, moved_cases = (None if array is None else self._moved(array) for array in (words, cases))
        return Fed(batch.seed, (self._moved(ids), moved_words, moved_cases))

    def _moved(self, array: NDArray[np.int32] | NDArray[np.uint8]) -> Tensor:
        """Indices must be of 64 bits; they are widened on the device, so that less has to be moved."""
        tensor = torch.from_numpy(array)
        if self._device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True).long()
