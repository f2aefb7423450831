"""Whole numbers of any few bits, eight of them in as many bytes as they have bits. No torch here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint16]

TABLE_BITS, MATRIX_BITS = 7, 9  # of the numbers of tables that are looked up, and of all other large weights
CHANGE_BITS = 6  # of what training changed in the weights of an encoder that comes with disconer


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
