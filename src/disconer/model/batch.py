"""Batches as tensors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from disconer.model.arrays import WordArrays


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
    own_mask: Tensor
    heads: Tensor
    parsed: Tensor
    lengths: list[int]

    @classmethod
    def from_arrays(cls, arrays: WordArrays, device: torch.device | None = None) -> WordBatch:
        tensors: dict[str, Any] = {
            field.name: torch.from_numpy(getattr(arrays, field.name)).to(device, non_blocking=True)
            for field in fields(cls)
            if field.name != "lengths"
        }
        return cls(**tensors, lengths=arrays.lengths.tolist())
