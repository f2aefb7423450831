"""Weights of 32 bits from what `disconer.nn.weights` stored with few. No torch here."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from disconer.nn.bits import Bytes, from_planes
from disconer.nn.reader import Floats, Ints

PLANES, LARGEST = ":planes", ":largest"  # what a weight's two parts are called beside its name
CHANGE, ROWS = ":change", ":rows"  # the planes of a change, and the rows that it is of


BLOCK = 2**17  # numbers that are unpacked at once, about: few enough for a processor's cache


def restored(name: str, planes: Bytes, largest: Floats, shape: tuple[int, ...]) -> Floats:
    """A weight of a shape. name: for the message if it does not fit."""
    weight = np.empty(shape, np.float32)
    for first, block in _row_blocks(name, planes, largest, shape):
        weight[first : first + len(block)] = block.reshape(-1, *shape[1:])
    return weight


def changed(name: str, base: Floats, rows: Ints, planes: Bytes, largest: Floats) -> Floats:
    """`base` after a change of some of its rows; base itself is overwritten."""
    for first, block in _row_blocks(name, planes, largest, (len(rows), *base.shape[1:])):
        base[rows[first : first + len(block)]] += block.reshape(-1, *base.shape[1:])
    return base


def _row_blocks(name: str, planes: Bytes, largest: Floats, shape: tuple[int, ...]) -> Iterator[tuple[int, Floats]]:
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
