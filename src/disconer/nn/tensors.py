"""Batches as tensors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from disconer.nn.arrays import WordArrays


@dataclass(frozen=True, slots=True)
class WordBatch:
    """The arrays of `WordArrays` as tensors.

    lengths: a plain list, so that reading it never waits for the device.
    """

    piece_ids: Tensor
    piece_mask: Tensor
    first_piece: Tensor
    piece_places: Tensor
    word_places: Tensor
    word_mask: Tensor
    real_words: Tensor
    own_mask: Tensor
    heads: Tensor
    parsed: Tensor
    lengths: list[int]

    @classmethod
    def from_arrays(cls, arrays: WordArrays, device: torch.device | None = None) -> WordBatch:
        named = {field.name: getattr(arrays, field.name) for field in fields(cls) if field.name != "lengths"}
        if device is None or device.type == "cpu":
            tensors: dict[str, Any] = {name: torch.from_numpy(array) for name, array in named.items()}
        else:
            tensors = dict(zip(named, _sent_at_once(list(named.values()), device), strict=True))
        return cls(**tensors, lengths=arrays.lengths.tolist())


def _sent_at_once(arrays: list[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """Arrays on a device, in one copy for which nothing waits: many small ones cost more than the work on them."""
    flat = torch.from_numpy(np.concatenate([array.ravel() for array in arrays], dtype=np.int64))
    if device.type == "cuda":
        flat = flat.pin_memory()
    parts = torch.split(flat.to(device, non_blocking=True), [array.size for array in arrays])
    return [
        part.view(array.shape).bool() if array.dtype == np.bool_ else part.view(array.shape)
        for part, array in zip(parts, arrays, strict=True)
    ]
