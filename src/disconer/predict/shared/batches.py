"""Batches as they go to the process that has the network. No torch here."""

from __future__ import annotations

import pickle
from dataclasses import fields

import numpy as np

from disconer.nn.arrays import WordArrays


def pack(batch: WordArrays) -> bytes:
    """A batch in half its size: no number in it needs 64 bits."""
    arrays = [getattr(batch, field.name) for field in fields(batch)]
    small = [array if array.dtype == np.bool_ else array.astype(np.int32) for array in arrays]
    return pickle.dumps(small, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(message: bytes) -> WordArrays:
    return WordArrays(*pickle.loads(message))
