"""Networks run by torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from disconer.model.arrays import WordArrays
from disconer.model.batch import WordBatch
from disconer.model.found import Found
from disconer.model.network import AnyNetwork
from disconer.model.runtime import Device

BATCH_PIECES = 2048  # more of them make a processor no faster
GPU_BATCH_PIECES = 8192


class TorchRuntime:
    """Runs a network on a device. See `Runtime`."""

    def __init__(self, network: AnyNetwork, device: Device = None) -> None:
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.device = str(self._device)
        self.batch_pieces = BATCH_PIECES if self._device.type == "cpu" else GPU_BATCH_PIECES
        self._network = network.to(self._device)

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`."""
        for arrays in batches:
            if self._network.training:
                self._network.eval()
            yield self._network.find(WordBatch.from_arrays(arrays, self._device))
