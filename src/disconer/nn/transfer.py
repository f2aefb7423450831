"""Arrays on their way to a device: in one copy, and without waiting for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def sent(arrays: Sequence[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """Arrays of whole numbers or truth values as tensors on a device; on the CPU, without a copy.

    To others they go in one asynchronous copy of pinned memory: many small copies cost more than the work on them, and
    one of other memory waits until the device has done all that it was given before.
    """
    if device.type == "cpu":
        return [
            torch.from_numpy(array if array.dtype == np.bool_ else array.astype(np.int64, copy=False))
            for array in arrays
        ]
    return sent_at_once(arrays, device)


def sent_at_once(arrays: Sequence[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """See `sent`."""
    flat = torch.from_numpy(np.concatenate([array.ravel() for array in arrays], dtype=np.int64))
    if device.type == "cuda":
        flat = flat.pin_memory()
    parts = torch.split(flat.to(device, non_blocking=True), [array.size for array in arrays])
    return [
        part.view(array.shape).bool() if array.dtype == np.bool_ else part.view(array.shape)
        for part, array in zip(parts, arrays, strict=True)
    ]


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor of the CPU on a device, likewise without waiting for it."""
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)
