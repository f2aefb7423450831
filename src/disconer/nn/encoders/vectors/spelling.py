"""How a word is spelt, in numbers. No torch here."""

from __future__ import annotations

import numpy as np

from disconer.nn.reader import Ints

PADDING, BEGIN, END = 0, 257, 258  # bytes are 1 to 256
N_SYMBOLS = 259
MAX_BYTES = 30  # of a word; of a longer one, its beginning
COLUMNS = MAX_BYTES + 2  # with the marks of beginning and end


def spelling(word: str) -> Ints:
    """The bytes of a word between two marks, filled up.  Shape: (COLUMNS,)"""
    numbers = np.zeros(COLUMNS, dtype=np.int64)
    letters = np.frombuffer(word.encode("utf-8", "surrogatepass")[:MAX_BYTES], dtype=np.uint8)
    numbers[0] = BEGIN
    numbers[1 : len(letters) + 1] = letters + np.int64(1)
    numbers[len(letters) + 1] = END
    return numbers
