"""Weights of 32 bits from what `disconer.nn.weights` stored with few. No torch here."""

from __future__ import annotations

from math import prod

import numpy as np

from disconer.nn.bits import Bytes, from_planes
from disconer.nn.reader import Floats, Ints

PLANES, LARGEST = ":planes", ":largest"  # what a weight's two parts are called beside its name
CHANGE, ROWS = ":change", ":rows"  # the planes of a change, and the rows that it is of


def restored(name: str, planes: Bytes, largest: Floats, shape: tuple[int, ...]) -> Floats:
    """A weight of a shape. name: for the message if it does not fit."""
    bits, n_bytes = planes.shape
    if n_bytes != -(-prod(shape) // 8) or largest.shape != shape[:1]:
        raise RuntimeError(f"size mismatch for {name}: the network has {tuple(shape)}")
    n_steps = 2 ** (bits - 1) - 1
    rows = from_planes(planes, prod(shape)).astype(np.float32).reshape(shape[0], -1)  # (rows, columns)
    rows -= n_steps
    rows *= largest.astype(np.float32)[:, None] / np.float32(n_steps)
    return rows.reshape(shape)


def changed(name: str, base: Floats, rows: Ints, planes: Bytes, largest: Floats) -> Floats:
    """`base` after a change of some of its rows; base itself is overwritten."""
    change = restored(name, planes, largest, (len(rows), *base.shape[1:]))
    if len(rows) == len(base):  # all rows, in their order
        base += change
    else:
        base[rows] += change
    return base
