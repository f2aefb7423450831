"""From the name of word vectors to their table, kept on disk in the form in which it is used."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from disconer.core.errors import DisconerError, Where
from disconer.core.files import cache_folder
from disconer.core.ledger import Ledger
from disconer.nn.encoders.vectors.files import Rows, opened
from disconer.nn.encoders.vectors.locate import VectorFiles, locate, read_array
from disconer.nn.encoders.vectors.table import Floats, VectorTable, WordIndex, build_index

LAYOUT = 1  # of these files; raised when it changes, so that older ones are made anew
_FACTS = "table.json"
_VECTORS = "vectors"
_TYPES = {_VECTORS: "<f4", "hashes": "<u8", "rows": "<i8", "ends": "<i8", "letters": "u1"}


def place_of(files: VectorFiles) -> Path:
    """Where the table of these files is kept: another place when one of them has changed."""
    states = [(path, path.stat()) for path in files.paths]
    facts = [LAYOUT, *((str(path.resolve()), state.st_size, state.st_mtime_ns) for path, state in states)]
    return cache_folder() / "vectors" / sha256(json.dumps(facts).encode()).hexdigest()[:32]


def read_table(folder: Path) -> VectorTable | None:
    """The table that a folder holds, or None if there is none, or none that is whole."""
    try:
        facts = json.loads((folder / _FACTS).read_bytes())
        arrays = {name: _mapped(folder / name, kind, facts["shapes"][name]) for name, kind in _TYPES.items()}
        return VectorTable(arrays.pop(_VECTORS), WordIndex(**arrays), facts["left_out"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mapped(path: Path, kind: str, shape: list[int]) -> Any:
    if path.stat().st_size != np.dtype(kind).itemsize * np.prod(shape, dtype=np.int64):
        raise ValueError(f"{path} is not as long as it was written")
    return np.memmap(path, dtype=kind, mode="r", shape=tuple(shape)).view(np.ndarray)  # a plain array is read faster


def write_table(rows: Rows, folder: Path) -> None:
    """Write rows as a table. The facts go last: where they are, all is."""
    ledger = Ledger()
    words: list[bytes] = []
    with open(folder / _VECTORS, "wb") as stream:
        for word, vector in rows.stream:
            if reason := _fault(word, vector):
                ledger.lost(reason)
            else:
                words.append(word)
                stream.write(vector.astype(_TYPES[_VECTORS]).tobytes())
    if not words:
        raise DisconerError("Not one of these word vectors can be used", where=Where(rows.path), got=_listed(ledger))
    index, n_again = build_index(words)
    ledger.lost("words given again", n_again)
    shapes = {_VECTORS: [len(words), rows.size]}
    for name in _TYPES.keys() - {_VECTORS}:
        array = getattr(index, name)
        array.astype(_TYPES[name]).tofile(folder / name)
        shapes[name] = list(array.shape)
    (folder / _FACTS).write_text(json.dumps({"shapes": shapes, "left_out": ledger.losses}), "utf-8")


def _fault(word: bytes, vector: Floats) -> str | None:
    """Why a row cannot be used."""
    if not word:
        return "vectors without a word"
    if not np.isfinite(vector).all():
        return "vectors with numbers that are none (NaN or infinite)"
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
    except OSError:  # no room for a cache, or no right to one: a table for this process alone
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
        raise OSError(f"{place} does not keep what is written to it")
    return table


def _publish(staging: Path, place: Path) -> None:
    """Give a finished table its name, unless another process was faster; what is there and damaged is replaced."""
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
        table = read_table(Path(folder))  # what is mapped stays readable when its file has lost its name
    assert table is not None
    return table


def _write(files: VectorFiles, folder: Path) -> None:
    if files.index is not None:
        write_table(read_array(files.table, files.index), folder)
        return
    with opened(files.table) as rows:
        write_table(rows, folder)
