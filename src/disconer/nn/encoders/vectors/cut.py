"""Cut word vectors to the words of some texts, as a folder that can be carried elsewhere.

    python -m disconer.nn.encoders.vectors.cut VECTORS FOLDER DATA…

FOLDER gets vectors.npy and words.txt: small, and read without any other package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from disconer.formats import read
from disconer.nn.encoders.vectors.table import VectorTable, load_vectors
from disconer.text import segment


def cut(table: VectorTable, words: Iterable[str], folder: Path) -> int:
    """Write the rows of these words and of their variants; returns how many they are."""
    rows = table.rows_of(words)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "vectors.npy", table.vectors[rows])
    (folder / "words.txt").write_text("".join(f"{table.word(row)}\n" for row in rows), "utf-8")
    return len(rows)


def words_of(path: str) -> set[str]:
    """The distinct words of documents in any format."""
    sentences = (
        (document.text, sentence) for document in map(segment, read(path)) for sentence in document.sentences or ()
    )
    return {text[start:end] for text, sentence in sentences for start, end in sentence.tokens}


if __name__ == "__main__":
    name, folder, *paths = sys.argv[1:]
    n_rows = cut(load_vectors(name), set().union(*map(words_of, paths)), Path(folder))
    print(f"{n_rows:,} vectors in {folder}")
