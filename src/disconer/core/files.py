"""Atomic file writing, lines appended, changes noticed; the paths of user files, bundled data and model folders."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from disconer.core.errors import DisconerError, Where


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically: at any moment it has its old or its new content."""
    with replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream for the new content of a file, which gets it only when the block ends without an error.

    A full disk is told as such: torch reports it as "unexpected pos", and the partial file would keep it full.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if _is_full(error):
            raise DisconerError(
                "This file could not be written: the disk is full, or a quota is reached",
                where=Where(str(path)),
                fix="Free some space and run the command again (add --resume for training). Completed files are kept.",
            ) from error
        raise


def file_stamp(path: Path) -> tuple[int, int, int] | None:
    """What differs when a file was changed or replaced; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file, in place of one that a crash cut off. Only one process may do so at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as stream:
        if stream.tell() and not _ends_in_line_end(path):
            stream.truncate(path.read_bytes().rfind(b"\n") + 1)
        stream.write(line + b"\n")


def _ends_in_line_end(path: Path) -> bool:
    with open(path, "rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def _is_full(error: BaseException | None) -> bool:
    """Whether an error is due to missing space, or occurred while such an error was handled."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        error = error.__cause__ or error.__context__
    return False


CACHE_VARIABLE = "DISCONER_CACHE"
BUNDLED = Path(__file__).parents[1] / "bundled"
BUNDLED_MODELS = BUNDLED / "models"  # each in a folder of its name
BUNDLED_ENCODERS = BUNDLED / "encoders"  # likewise

# The files that identify a model folder.
CONFIG, WEIGHTS, ONNX_GRAPH = "config.json", "model.safetensors", "network.onnx"
RUN_FOLDERS = ("best", "last")  # the models of a training run

# What a run can be resumed from, below its folder.
TRAINING_STATE, ADAPTATION_STATE = "training.pt", "adaptation/state.pt"


def user_folder() -> Path:
    """The system's folder for the user's disconer files."""
    from platformdirs import user_data_path

    return user_data_path("disconer", appauthor=False)


def cache_folder() -> Path:
    """The cache folder: $DISCONER_CACHE, or disconer's part of the user's cache."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else user_cache_path("disconer", appauthor=False)
