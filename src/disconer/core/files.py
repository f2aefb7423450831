"""Atomic file writing, full disks, appending lines, detecting changes; locks between processes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from disconer.core.errors import DisconerError, Where

if sys.platform != "win32":
    import fcntl

NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)  # some network file systems have none


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically: at any moment it has its old or its new content."""
    with replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream for the new content of a file, which is replaced only when the block ends without an error.

    If it is not, the partial file is removed, which would keep a full disk full.
    """
    part = path.with_name(f".{path.name}.part")
    with full_disk_reported(path):
        try:
            with open(part, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextmanager
def full_disk_reported(path: Path | str) -> Iterator[None]:
    """Report a full disk as such where `path` is written: torch calls it "unexpected pos", others name no file.

    Of several around each other, the outermost names the file.
    """
    try:
        yield
    except Exception as error:
        if is_full(error):
            raise full_disk(str(path)) from error
        raise


def full_disk(path: str | None) -> DisconerError:
    return DisconerError(
        f"{'This file' if path else 'The output'} could not be written: the disk is full, or a quota is reached",
        where=Where(path),
        fix="Free some space and run the command again, `disconer train` with --resume: completed files are kept.",
    )


def file_stamp(path: Path) -> tuple[int, int, int] | None:
    """A stamp that differs after a file was changed or replaced; None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file, in place of one that a crash cut off. Only one process may do so at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with full_disk_reported(path), open(path, "ab") as stream:
        if stream.tell() and not _ends_in_line_end(path):
            stream.truncate(path.read_bytes().rfind(b"\n") + 1)
        stream.write(line + b"\n")


def _ends_in_line_end(path: Path) -> bool:
    with open(path, "rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def is_full(error: BaseException | None) -> bool:
    """Whether an error is due to missing space, or occurred while such an error was handled."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def locked(path: Path, *, wait: bool = False, remove: bool = False) -> Iterator[int | None]:
    """A descriptor that holds the lock of a file, also in processes that inherit it; None if another one holds it.

    The lock is free when the process ends, even if it is killed.
    -1 on Windows and on file systems without such locks.
    wait: until it is free, instead of yielding None. remove: the file, when the lock is released.
    """
    if sys.platform == "win32":
        yield -1
        return
    descriptor, lock = _lock(path, wait=wait)
    try:
        yield lock
    finally:
        if remove and lock is not None:
            path.unlink(missing_ok=True)
        os.close(descriptor)  # the lock is free unless a process inherited it


def _lock(path: Path, *, wait: bool) -> tuple[int, int | None]:
    """The open file, and what `locked` yields."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return descriptor, None
        except OSError as error:
            if error.errno in NO_LOCKS:
                return descriptor, -1
            os.close(descriptor)
            raise
        if _is_at(path, descriptor):
            return descriptor, descriptor
        os.close(descriptor)  # removed since it was opened: others lock the file that is there now


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
