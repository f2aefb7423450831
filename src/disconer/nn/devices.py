"""The device and the number format that a network runs with, and how arrays get there: the batch that it takes.

A device that this machine does not have is an error of one paragraph. The arrays of a batch go to a device in one copy,
and nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from disconer.core.cores import chosen_threads
from disconer.core.errors import DisconerError, first_line
from disconer.nn.arrays import WordArrays
from disconer.nn.runtime import Device

MOST_SAID = 70  # characters of torch's message: longer ones are lists of what torch was built with


def usable_device(device: Device = None) -> torch.device:
    """The device of this name; None: a GPU if there is one, else the CPU."""
    try:
        chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.zeros(1, device=chosen).item()  # the device "meta" makes tensors, but they have no values
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = first_line(error).split(". ")[0]
        raise DisconerError(
            f"This machine has no device {str(device)!r} that torch can use",
            got=said if len(said) <= MOST_SAID else None,
            expected=f"one of {', '.join(_devices())}",
            fix="Leave it out to use the best one.",
        ) from error
    return chosen


def _devices() -> list[str]:
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return ["cpu", *gpus, *(["mps"] if torch.backends.mps.is_available() else [])]


GPU_SIZE_MULTIPLE = 8


def size_multiple(device: torch.device) -> int:
    """The words and subwords of a batch should be padded to a multiple of this: a GPU plans its work again for every
    new size.
    """
    return 1 if device.type == "cpu" else GPU_SIZE_MULTIPLE


def padded_count(count: int, device: torch.device) -> int:
    """The size to pad to where cuDNN makes a plan for each size: the next power of 2. A plan takes milliseconds,
    padding microseconds.

    >>> [padded_count(count, torch.device("cuda")) for count in (0, 3, 8, 9, 100)]
    [0, 4, 8, 16, 128]
    """
    return count if device.type == "cpu" or not count else 1 << (count - 1).bit_length()


GPU_CELLS_AT_ONCE = 2**20


def cells_at_once(device: torch.device) -> int:
    """The most cells, padding included, to process together: those of a training step take a GPU a few milliseconds,
    and launching them in several parts takes the host as long again for each part.
    """
    return 0 if device.type == "cpu" else GPU_CELLS_AT_ONCE


def cpu_trains_in(precision: torch.dtype) -> bool:
    """Whether this CPU's kernels have that precision: LSTMs in bf16 need AVX512 or better."""
    lstm = nn.LSTM(8, 8, bidirectional=True)
    try:
        with torch.autocast("cpu", dtype=precision):
            lstm(torch.zeros(2, 2, 8))[0].sum().backward()
    except RuntimeError:
        return False
    return True


BF16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16")


def cpu_is_fast_in_bf16() -> bool:
    """Whether this CPU has instructions for bf16. Without them, training in bf16 is slower than in fp32."""
    known: Mapping[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # an older torch cannot tell
    return any(known.get(name, False) for name in BF16_INSTRUCTIONS) and cpu_trains_in(torch.bfloat16)


def use_chosen_threads() -> int:
    """Let torch start as many threads as this process has cores, or as the user sets; returns how many."""
    threads = chosen_threads()
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    return threads


def sent(arrays: Sequence[NDArray[Any]], device: torch.device) -> list[Tensor]:
    """Arrays of whole numbers or truth values as tensors on a device; on the CPU, without a copy.

    To other devices they go in one asynchronous copy from pinned memory: many small copies cost more than the work on
    them, and a copy from other memory waits until the device has finished all earlier work.
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
        tensors: Any = sent(list(named.values()), device or torch.device("cpu"))
        return cls(**dict(zip(named, tensors, strict=True)), lengths=arrays.lengths.tolist())
