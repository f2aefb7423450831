"""Small files of word vectors in every form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

WORDS = ["the", "pain", "Knee", "naïve", "00", ". . .", "il0"]
SIZE = 4
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), SIZE)).astype(np.float32)


def lines(words: list[str] = WORDS, vectors: np.ndarray = VECTORS) -> str:
    return "".join(f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in zip(words, vectors, strict=True))


def glove(folder: Path) -> Path:
    path = folder / "glove.txt"
    path.write_text(lines(), "utf-8")
    return path


def word2vec_text(folder: Path) -> Path:
    path = folder / "vectors.vec"
    path.write_text(f"{len(WORDS)} {SIZE}\n{lines()}", "utf-8")
    return path


def fasttext(folder: Path) -> Path:
    """With a space at the end of each line, as fastText leaves it."""
    path = folder / "wiki.vec"
    path.write_text(f"{len(WORDS)} {SIZE}\n{lines()}".replace("\n", " \n"), "utf-8")
    return path


def binary_rows(*, end: bytes = b"\n", words: list[str] = WORDS, vectors: np.ndarray = VECTORS) -> bytes:
    return b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + end for word, row in zip(words, vectors, strict=True)
    )


def word2vec_binary(folder: Path, *, end: bytes = b"\n") -> Path:
    """Words have no spaces in them here: the form cannot say them."""
    path = folder / "vectors.bin"
    words = [word.replace(" ", "_") for word in WORDS]
    path.write_bytes(f"{len(WORDS)} {SIZE}\n".encode() + binary_rows(end=end, words=words))
    return path


def zipped(form: Callable[[Path], Path]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        plain = form(folder)
        packed = plain.with_name(f"{plain.name}.gz")
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
        return packed

    return write


def array_and_lines(folder: Path) -> Path:
    np.save(folder / "table.npy", VECTORS)
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in WORDS), "utf-8")
    return folder


def array_and_list(folder: Path) -> Path:
    np.save(folder / "table.npy", VECTORS.astype(np.float64))
    (folder / "index.json").write_text(json.dumps(WORDS), "utf-8")
    return folder


def array_and_rows(folder: Path) -> Path:
    np.save(folder / "table.npy", VECTORS)
    rows = {word: row for row, word in reversed(list(enumerate(WORDS)))}
    (folder / "index.json").write_text(json.dumps(rows), "utf-8")
    return folder / "table.npy"


FORMS: dict[str, Callable[[Path], Path]] = {
    "GloVe": glove,
    "word2vec text": word2vec_text,
    "fastText": fasttext,
    "word2vec binary": word2vec_binary,
    "word2vec binary without line ends": lambda folder: word2vec_binary(folder, end=b""),
    "GloVe, gzip": zipped(glove),
    "word2vec binary, gzip": zipped(word2vec_binary),
    "array and lines": array_and_lines,
    "array and list": array_and_list,
    "array and rows": array_and_rows,
}
