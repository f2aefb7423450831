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
    pieces: what a `Masker` takes: pieces (B, L), and the numbers of their words (B, L) if words matter.
    """

    seed: int
    pieces: tuple[Tensor, Tensor | None]


class Feed:
    """Makes the tensors of batches. Good to run in the background."""

    def __init__(self, sequences: Sequences, device: torch.device) -> None:
        self._sequences, self._device = sequences, device

    def __call__(self, batch: Batch) -> Fed:
        ids, words = self._sequences.ids(batch.sequences), self._sequences.words(batch.sequences)
        return Fed(batch.seed, (self._moved(ids), None if words is None else self._moved(words)))

    def _moved(self, array: NDArray[np.int32]) -> Tensor:
        """Indices must be of 64 bits; they are widened on the device, so that half as much has to be moved."""
        tensor = torch.from_numpy(array)
        if self._device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True).long()
