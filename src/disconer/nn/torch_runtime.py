"""Networks run by torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from disconer.core.errors import DisconerError
from disconer.nn.arrays import WordArrays
from disconer.nn.network import AnyNetwork
from disconer.nn.runtime import Device, Precision, RuntimeName
from disconer.nn.tensors import WordBatch
from disconer.nn.windows import Found

# In larger batches a processor's caches overflow and more is padding; a GPU is idle in smaller ones.
BATCH_PIECES, GPU_BATCH_PIECES = 768, 2**15
BATCH_CELLS, GPU_BATCH_CELLS = 2**18, 2**20
BATCH_OVERHEAD, GPU_BATCH_OVERHEAD = 48, 2**12  # in pieces: about what launching the network costs
GPU_SIZE_MULTIPLE = 8


def size_multiple(device: torch.device) -> int:
    """Of which the numbers of words and pieces of a batch should be on a device."""
    return 1 if device.type == "cpu" else GPU_SIZE_MULTIPLE


class TorchRuntime:
    """Runs a network on a device. See `Runtime`."""

    name: RuntimeName = "torch"

    def __init__(self, network: AnyNetwork, device: Device = None, precision: Precision = "fp32") -> None:
        if precision == "int8":
            raise DisconerError(
                "torch does not run a model in int8",
                fix="Use ONNX Runtime, on the CPU, or bf16.",
            )
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.device = str(self._device)
        on_cpu = self._device.type == "cpu"
        self.batch_pieces = BATCH_PIECES if on_cpu else GPU_BATCH_PIECES
        self.batch_cells = BATCH_CELLS if on_cpu else GPU_BATCH_CELLS
        self.batch_overhead = BATCH_OVERHEAD if on_cpu else GPU_BATCH_OVERHEAD
        self.size_multiple = size_multiple(self._device)
        self._network = (_in_bf16(network) if precision == "bf16" else network).to(self._device)

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`. A device other than the CPU works on the next batch while this one's entities are read."""
        if self._device.type == "cpu":
            return (self._collect(self._launch(arrays)) for arrays in batches)
        return self._find_ahead(batches)

    def _find_ahead(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        launched: Any = None
        for arrays in batches:
            next_one = self._launch(arrays)
            if launched is not None:
                yield self._collect(launched)
            launched = next_one
        if launched is not None:
            yield self._collect(launched)

    @torch.inference_mode()
    def _launch(self, arrays: WordArrays) -> Any:
        if self._network.training:  # it may be trained between two batches
            self._network.eval()
        return self._network.launch(WordBatch.from_arrays(arrays, self._device))

    @torch.inference_mode()
    def _collect(self, launched: Any) -> list[list[Found]]:
        return self._network.head.collect(launched)


def _in_bf16(network: AnyNetwork) -> AnyNetwork:
    """A copy with half the digits: the model that it is made of stays as exact as it is.

    LSTMs keep theirs. cuDNN would gather the weights of a bf16 one again for every batch.
    """
    short = deepcopy(network).to(torch.bfloat16)
    for module in short.modules():
        if isinstance(module, nn.RNNBase):
            module.float()
    return short
