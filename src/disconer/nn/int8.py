"""Matrices of 8 bits, for products that are computed with 8 bits: ONNX Runtime's operator MatMulNBits. No torch here.

The inputs of such a product are rounded row by row as they come, so that other sentences of a batch do not decide how
coarsely. (Their padding still changes the last bits of sums in 32 bits, and so scores in the third decimal.)
"""

from __future__ import annotations

import numpy as np

from disconer.nn.bits import Bytes
from disconer.nn.reader import Floats

BITS, MIDDLE, LARGEST_STEP = 8, 128, 127
BLOCKS = (128, 64, 32, 16)  # inputs that share a scale, those first that are fastest
INT8_VALUES, INT8_SCALES = ":int8", ":scales"  # what a matrix's two parts are called beside its name


def block_size(n_inputs: int) -> int | None:
    """How many of the inputs of a matrix share a scale; None if it cannot be quantised."""
    return next((block for block in BLOCKS if n_inputs % block == 0), None)


def quantized(matrix: Floats, block: int) -> tuple[Bytes, Floats]:
    """Whole numbers around `MIDDLE`, and the scale of each block.

    Shape: (outputs, inputs) -> (outputs, inputs / block, block), (outputs * inputs / block,)
    """
    blocks = matrix.reshape(len(matrix), -1, block)
    scales = np.abs(blocks).max(-1, keepdims=True) / np.float32(LARGEST_STEP)
    scales[scales == 0] = 1
    return (np.rint(blocks / scales) + MIDDLE).astype(np.uint8), scales.ravel()
