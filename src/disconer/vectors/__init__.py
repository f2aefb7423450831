"""Word vectors from files of every usual form, read once and memory-mapped from then on. No torch here."""

from disconer.vectors.load import load_vectors
from disconer.vectors.table import VectorTable
from disconer.vectors.variants import variants

__all__ = ["VectorTable", "load_vectors", "variants"]
