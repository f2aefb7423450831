"""Weights with few bits: whole numbers, eight of them in as many bytes as they have bits, and what they stand for.

`disconer.nn.weights` stores weights so. No torch here.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disconer.nn.reader import Floats, Ints


class Planes(Protocol):
    """What `to_planes` gives: an array, or a file that is read as an array is, some columns after others."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: tuple[slice, slice], /) -> Any: ...


Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint16]

TABLE_BITS, MATRIX_BITS = 7, 9  # of the numbers of tables that are looked up, and of all other large weights
CHANGE_BITS = 6  # of what training changed in the weights of an encoder that comes with disconer
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
