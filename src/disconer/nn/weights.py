"""Weights with few bits: compact ones, in a quarter of their size, and matrices for products with 8 bits.

Compact weights are stored with few bits and used with 32: all that it costs is rounding. Every row of a large weight is
stored as whole numbers, and the largest absolute value that they stand for. Tables that are looked up bear coarser
numbers than matrices that are multiplied with: 7 and 9 bits change fewer entities than 8 and 8 do, in the same size.
Where it is known what a weight was before training, only the change is stored: that is small, so that 6 bits are finer
than 9 of the weight itself, and of tables only the rows that training met.

Nothing here needs torch but what rounds the weights of a network, or gives them back to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disconer.core.files import replace_file
from disconer.nn.reader import Floats, Ints

if TYPE_CHECKING:
    from torch import Tensor, nn


class Planes(Protocol):
    """What `to_planes` gives: an array, or a file that is read as an array is, some columns after others."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: tuple[slice, slice], /) -> Any: ...


Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint16]

TABLE_BITS, MATRIX_BITS = 7, 9  # of the numbers of tables that are looked up, and of all other large weights
CHANGE_BITS = 6  # of what training changed in the weights of a bundled encoder
PLANES, LARGEST = ":planes", ":largest"  # what a weight's two parts are called beside its name
CHANGE, ROWS = ":change", ":rows"  # the planes of a change, and the rows that it is of
BLOCK = 2**17  # numbers that are unpacked at once, about: few enough for a processor's cache


def to_planes(numbers: Numbers, bits: int) -> Bytes:
    """The first bit of all numbers, the second of all numbers, and so on, from the highest.

    >>> to_planes(np.array([5, 1], np.uint16), 3)  # 101 and 001
    array([[128],
           [  0],
           [192]], dtype=uint8)

    Shape: (bits, numbers / 8)
    """
    return np.stack([np.packbits((numbers >> bit & 1).astype(np.uint8)) for bit in reversed(range(bits))])


def from_planes(planes: Bytes, count: int) -> Numbers:
    """The numbers again.

    >>> from_planes(to_planes(np.array([5, 1, 7], np.uint16), 3), 3)
    array([5, 1, 7], dtype=uint16)
    """
    numbers = np.zeros(count, np.uint16)
    for plane in planes:
        numbers <<= 1
        numbers |= np.unpackbits(plane, count=count)
    return numbers


def restore(name: str, planes: Planes, largest: Floats, weight: Floats) -> None:
    """Fill a weight. name: for the message if it does not fit."""
    for first, block in _row_blocks(name, planes, largest, weight.shape):
        weight[first : first + len(block)] = block.reshape(-1, *weight.shape[1:])


def change(name: str, weight: Floats, rows: Ints, planes: Planes, largest: Floats) -> None:
    """Change some rows of a weight."""
    for first, block in _row_blocks(name, planes, largest, (len(rows), *weight.shape[1:])):
        weight[rows[first : first + len(block)]] += block.reshape(-1, *weight.shape[1:])


def _row_blocks(name: str, planes: Planes, largest: Floats, shape: tuple[int, ...]) -> Iterator[tuple[int, Floats]]:
    """Some rows after others, each with the place of its first.  Shape: (rows, columns)"""
    bits, n_bytes = planes.shape
    if n_bytes != -(-prod(shape) // 8) or largest.shape != shape[:1]:
        raise RuntimeError(f"size mismatch for {name}: the network has {tuple(shape)}")
    n_steps = 2 ** (bits - 1) - 1
    n_rows, n_columns = shape[0], prod(shape[1:])
    at_once = 8 * max(1, BLOCK // (8 * max(1, n_columns)))  # rows; a multiple of 8, so that blocks are whole bytes
    step = largest.astype(np.float32)[:, None] / np.float32(n_steps)  # (rows, 1)
    for first in range(0, n_rows, at_once):
        end = min(first + at_once, n_rows)
        of_block = planes[:, first * n_columns // 8 : -(-end * n_columns // 8)]
        block = from_planes(of_block, (end - first) * n_columns).astype(np.float32).reshape(end - first, n_columns)
        block -= n_steps
        block *= step[first:end]
        yield first, block


SMALL = 2**12  # numbers; fewer are stored with 16 bits
UNMET = 0.01  # a row of a table changes by less, for its largest value, if training never met it: rounding and decay


def rounded_weights(network: nn.Module, base: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
    """What to store of a network.

    base: the values of some of its weights before training; restoring them requires these, too.
    """
    import torch
    from torch import nn

    base = base or {}
    tables = {f"{name}.weight" for name, part in network.named_modules() if isinstance(part, nn.Embedding)}
    stored = {}
    for name, weight in network.state_dict().items():
        weight = weight.detach().cpu()
        if weight.dtype != torch.float32:
            stored[name] = weight.contiguous()
        elif weight.ndim < 2 or weight.numel() < SMALL:
            stored[name] = weight.half().contiguous()
        elif name in base:
            difference = weight - base[name]
            least = UNMET * base[name].flatten(1).abs().amax(1) if name in tables else 0
            rows = (difference.flatten(1).abs().amax(1) > least).nonzero().flatten()
            stored[name + ROWS] = rows.int()
            stored[name + CHANGE], stored[name + LARGEST] = _rounded(difference[rows], CHANGE_BITS)
        else:
            bits = TABLE_BITS if name in tables else MATRIX_BITS
            stored[name + PLANES], stored[name + LARGEST] = _rounded(weight, bits)
    return stored


def full_weights(
    stored: Mapping[str, Tensor], like: Mapping[str, Tensor], base: Mapping[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """The weights of 32 bits, of whatever was stored.

    like: the weights of the network that they are for, which say what shape they have.
    base: those that changes are of.
    """
    import torch

    base = base or {}
    full = {}
    for name, tensor in stored.items():
        weight = name.removesuffix(PLANES).removesuffix(CHANGE)
        if name.endswith(PLANES) and weight in like and weight + LARGEST in stored:
            full[weight] = torch.empty(like[weight].shape)
            restore(weight, tensor.numpy(), stored[weight + LARGEST].numpy(), full[weight].numpy())
        elif name.endswith(CHANGE) and weight in base and {weight + LARGEST, weight + ROWS} <= stored.keys():
            full[weight] = base[weight].clone()
            rows, largest = stored[weight + ROWS].numpy(), stored[weight + LARGEST].numpy()
            change(weight, full[weight].numpy(), rows, tensor.numpy(), largest)
        elif not name.endswith((LARGEST, ROWS)):
            full[name] = tensor.float() if tensor.is_floating_point() else tensor
    return full


def _rounded(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Shape: (bits, numbers / 8), (rows,)"""
    import torch

    rows = weight.flatten(1)  # (rows, columns)
    largest = rows.abs().amax(1).half()
    n_steps = 2 ** (bits - 1) - 1  # from nothing to the largest
    step = largest.float().unsqueeze(1) / n_steps
    numbers = torch.where(step > 0, rows / step, 0).round().clamp(-n_steps, n_steps) + n_steps
    planes = to_planes(numbers.flatten().numpy().astype(np.uint16), bits)
    return torch.from_numpy(planes), largest


def write_weights(weights: Mapping[str, Tensor], path: Path) -> None:
    from safetensors.torch import save

    replace_file(path, save({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}))


# Matrices for products that are computed with 8 bits.
LARGEST_STEP = 127  # of signed integers of 8 bits
INT8_VALUES, INT8_SCALES = ":int8", ":scales"  # what a matrix's two parts are called beside its name


def rounded_to_8_bits(values: Floats, *, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Whole numbers, and the scales that they are multiplied with, one for all values along an axis.

    Shape: (rows, columns) -> (rows, columns), (1, columns) for axis 0 or (rows, 1) for axis 1
    """
    scales = np.abs(values).max(axis, keepdims=True) / np.float32(LARGEST_STEP)
    scales[scales == 0] = 1
    return np.rint(values / scales).astype(np.int8), scales


def quantized(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Whole numbers for a product from the right, and the scale of each output.

    Shape: (outputs, inputs) -> (inputs, outputs), (outputs,)
    """
    values, scales = rounded_to_8_bits(matrix.T, axis=0)
    return np.ascontiguousarray(values), scales[0]
