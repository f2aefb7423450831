"""A table of word vectors: which row belongs to a word, and the copy on disk that is memory-mapped. No torch here."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.places import cache_folder
from disconer.nn.encoders.vectors.files import Floats, Rows, opened
from disconer.nn.encoders.vectors.locate import VectorFiles, locate, read_array

_DIGIT = re.compile(r"\d")
_FOLDED = ("0", "#")  # what tables write for a digit, if they fold them; word2vec's Google News has "#"


def variants(word: str) -> Iterator[str]:
    """A word as it is, lower-cased, and both with their digits folded: the order of lookup.

    >>> list(variants("IL6"))
    ['IL6', 'il6', 'IL0', 'il0', 'IL#', 'il#']
    """
    lower = word.lower()
    forms = (word,) if lower == word else (word, lower)
    yield from forms
    if _DIGIT.search(word):
        for digit in _FOLDED:
            for form in forms:
                folded = _DIGIT.sub(digit, form)
                if folded != form:
                    yield folded


Hashes: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.uint8]


def word_hash(word: bytes) -> int:
    """A hash that is the same on every machine and in every process."""
    return int.from_bytes(blake2b(word, digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class WordIndex:
    """Words by their hashes.

    hashes: of the words, sorted. rows: of the same words, where each stands in the table.
    ends: of the words in the order of the table, where each ends in `letters`, their UTF-8 one after another.
    """

    hashes: Hashes
    rows: Ints
    ends: Ints
    letters: Bytes

    def get(self, word: str) -> int | None:
        """The row of exactly this word."""
        wanted = word.encode("utf-8", "surrogatepass")
        number = word_hash(wanted)
        place = int(np.searchsorted(self.hashes, np.uint64(number)))
        while place < len(self.hashes) and self.hashes[place] == number:  # two words may share a hash
            row = int(self.rows[place])
            if self.word(row) == wanted:
                return row
            place += 1
        return None

    def word(self, row: int) -> bytes:
        start = self.ends[row - 1] if row else 0
        return self.letters[start : self.ends[row]].tobytes()


def build_index(words: list[bytes]) -> tuple[WordIndex, int]:
    """The index of a table's words, row by row, and the number of duplicates; the first one counts."""
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    letters = np.frombuffer(b"".join(words), dtype=np.uint8)
    hashes = np.fromiter(map(word_hash, words), dtype=np.uint64, count=len(words))
    rows = np.argsort(hashes, kind="stable").astype(np.int64)
    again = _again(words, hashes[rows], rows)
    kept = rows[~again]
    return WordIndex(hashes[kept], kept, ends, letters), int(again.sum())


def _again(words: list[bytes], hashes: Hashes, rows: Ints) -> NDArray[np.bool_]:
    """Which places of the sorted index hold a word that an earlier row has."""
    again = np.zeros(len(rows), dtype=bool)
    seen: set[bytes] = set()
    for place in np.flatnonzero(hashes[1:] == hashes[:-1]) + 1:
        if place == 1 or hashes[place - 2] != hashes[place]:
            seen = {words[rows[place - 1]]}
        word = words[rows[place]]
        again[place] = word in seen
        seen.add(word)
    return again


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Words and their vectors.

    vectors: one row per word, in the order of the file (usually by frequency).  Shape: (n, d)
    left_out: how much of the file could not be used, by reason.
    """

    vectors: Floats
    index: WordIndex
    left_out: Mapping[str, int]

    @property
    def size(self) -> int:
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.vectors)

    def word(self, row: int) -> str:
        return self.index.word(row).decode("utf-8", "surrogatepass")

    def rows_of(self, words: Iterable[str]) -> list[int]:
        """The rows of words and of all their variants, in the order of the table."""
        forms = {form for word in set(words) for form in variants(word)}
        return sorted(row for form in forms if (row := self.index.get(form)) is not None)

    def find(self, word: str) -> int | None:
        """The row of a word, or of the first of its variants that the table has."""
        return next((row for form in variants(word) if (row := self.index.get(form)) is not None), None)


LAYOUT = 1  # of these files; increased when it changes, so that older files are made again
_FACTS = "table.json"
_VECTORS = "vectors"
_TYPES = {_VECTORS: "<f4", "hashes": "<u8", "rows": "<i8", "ends": "<i8", "letters": "u1"}


def place_of(files: VectorFiles) -> Path:
    """Where the table of these files is cached: another place once one of them has changed."""
    states = [(path, path.stat()) for path in files.paths]
    facts = [LAYOUT, *((str(path.resolve()), state.st_size, state.st_mtime_ns) for path, state in states)]
    return cache_folder() / "vectors" / sha256(json.dumps(facts).encode()).hexdigest()[:32]


def read_table(folder: Path) -> VectorTable | None:
    """The table in a folder, or None if there is none or it is incomplete."""
    try:
        facts = json.loads((folder / _FACTS).read_bytes())
        arrays = {name: _mapped(folder / name, kind, facts["shapes"][name]) for name, kind in _TYPES.items()}
        return VectorTable(arrays.pop(_VECTORS), WordIndex(**arrays), facts["left_out"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mapped(path: Path, kind: str, shape: list[int]) -> Any:
    if path.stat().st_size != np.dtype(kind).itemsize * np.prod(shape, dtype=np.int64):
        raise ValueError(f"{path} has the wrong size")
    return np.memmap(path, dtype=kind, mode="r", shape=tuple(shape)).view(np.ndarray)  # a plain array is read faster


def write_table(rows: Rows, folder: Path) -> None:
    """Write rows as a table. The facts are written last: if they exist, the table is complete."""
    ledger = Ledger()
    words: list[bytes] = []
    with open(folder / _VECTORS, "wb") as stream:
        for word, vector in rows.stream:
            if reason := _problem(word, vector):
                ledger.lost(reason)
            else:
                words.append(word)
                stream.write(vector.astype(_TYPES[_VECTORS]).tobytes())
    if not words:
        raise DisconerError("None of these word vectors can be used", where=Where(rows.path), got=_listed(ledger))
    index, n_again = build_index(words)
    ledger.lost("duplicate words", n_again)
    shapes = {_VECTORS: [len(words), rows.size]}
    for name in _TYPES.keys() - {_VECTORS}:
        array = getattr(index, name)
        array.astype(_TYPES[name]).tofile(folder / name)
        shapes[name] = list(array.shape)
    (folder / _FACTS).write_text(json.dumps({"shapes": shapes, "left_out": ledger.losses}), "utf-8")


def _problem(word: bytes, vector: Floats) -> str | None:
    """Why a row cannot be used."""
    if not word:
        return "vectors without a word"
    if not np.isfinite(vector).all():
        return "vectors with NaN or infinite numbers"
    try:
        word.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return "words that are not UTF-8"
    return None


def _listed(ledger: Ledger) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in ledger.losses.items())


def load_vectors(name: str) -> VectorTable:
    """The table of a file, folder or package of word vectors; see `locate`.

    The first time it is converted into this user's cache; from then on it is memory-mapped from there.
    """
    files = locate(name)
    place = place_of(files)
    if (table := read_table(place)) is not None:
        return table
    try:
        return _into_cache(files, place)
    except OSError:  # no space or permission for a cache: a table for this process alone
        return _without_cache(files)


def _into_cache(files: VectorFiles, place: Path) -> VectorTable:
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=place.parent, prefix="."))
    try:
        _write(files, staging)
        _publish(staging, place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    table = read_table(place)
    if table is None:
        raise OSError(f"{place} lost data that was written to it")
    return table


def _publish(staging: Path, place: Path) -> None:
    """Give a finished table its name, unless another process was faster; a damaged table is replaced."""
    if read_table(place) is None:
        shutil.rmtree(place, ignore_errors=True)
        try:
            os.rename(staging, place)
        except OSError:
            if read_table(place) is None:
                raise


def _without_cache(files: VectorFiles) -> VectorTable:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        _write(files, Path(folder))
        table = read_table(Path(folder))  # a mapped file stays readable after it is deleted
    assert table is not None
    return table


def _write(files: VectorFiles, folder: Path) -> None:
    if files.index is not None:
        write_table(read_array(files.table, files.index), folder)
        return
    with opened(files.table) as rows:
        write_table(rows, folder)
