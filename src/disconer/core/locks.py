"""Locks on files, by which processes keep out of each other's way: free when a process ends, even if it is killed."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)  # some network file systems have none


@contextmanager
def locked(path: Path, *, wait: bool = False, remove: bool = False) -> Iterator[int | None]:
    """A descriptor that holds the lock of a file, also in processes that inherit it; None if another one holds it.

    -1 on Windows and on file systems without such locks.
    wait: until it is free, instead of None. remove: the file, when the lock is given back.
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
    """The open file, and what `locked` gives."""
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
