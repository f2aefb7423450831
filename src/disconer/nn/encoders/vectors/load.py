"""From the name of word vectors to their table."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from disconer.nn.encoders.vectors.arrays import read_array
from disconer.nn.encoders.vectors.cache import place_of, read_table, write_table
from disconer.nn.encoders.vectors.locate import VectorFiles, locate
from disconer.nn.encoders.vectors.opened import opened
from disconer.nn.encoders.vectors.table import VectorTable


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
