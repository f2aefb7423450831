"""Word vectors from files of every usual form, read once and memory-mapped from then on, and their encoder.

No torch but in `encoder` and `encoding`.
"""

from disconer.nn.encoders.vectors.load import load_vectors
from disconer.nn.encoders.vectors.table import VectorTable, variants

__all__ = ["VectorTable", "load_vectors", "variants"]
