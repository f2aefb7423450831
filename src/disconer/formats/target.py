"""Where documents are written: files and folders that appear completely or not at all."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from disconer.core.errors import BadInput, DisconerError, Where, excerpt
from disconer.core.files import full_disk_reported
from disconer.core.ledger import Ledger

_DEVICES = (Path("/dev"), Path("/dev/fd"))  # /dev/shm is a folder like others


def refuse_device(path: Path) -> None:
    """Stop if `path` is no file or folder, which could be replaced: /dev/stdout, /dev/null, a named pipe."""
    if path.parent in _DEVICES or (path.exists() and not path.is_file() and not path.is_dir()):
        raise DisconerError(
            "Output goes to a temporary file that is renamed at the end, so it cannot be written to a device or pipe",
            where=Where(str(path)),
            fix="Name a file or folder. `disconer predict` prints its output without --out, if --to names a format.",
        )


def refuse_existing(path: Path, force: bool) -> None:
    """Stop before any work if `path` exists and may not be overwritten, or never."""
    refuse_device(path)
    if path.exists() and not force:
        raise DisconerError(
            "This already exists",
            where=Where(str(path)),
            fix="Choose another name, or overwrite it (--force, in Python force=True).",
        )


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file (compressed if `path` ends in .gz) that gets its name only when the block ends without an error."""
    refuse_device(path)
    if path.is_dir():
        raise DisconerError("The output file is an existing folder", where=Where(str(path)))
    with full_disk_reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as raw:
                if path.suffix.lower() == ".gz":
                    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                        yield cast(BinaryIO, packed)
                else:
                    yield raw
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that gets its name only when the block ends without an error, replacing an older one."""
    refuse_device(path)
    with full_disk_reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        try:
            yield staging
            staging.chmod(0o777 & ~_umask())
            if path.is_dir():
                old = staging.with_suffix(".old")
                path.rename(old)
                staging.rename(path)
                shutil.rmtree(old)
            else:
                path.unlink(missing_ok=True)
                staging.rename(path)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise


# Empty names, those that lead out of the folder or are hidden, so that readers skip them, and characters that no file
# system allows.
_NO_FILE_NAME = re.compile(r"(?:^|/)(?:\.|/|\Z)|[\0\ud800-\udfff]")


def path_within(folder: Path, document_id: str, suffix: str) -> Path:
    """The file of a document in `folder`; its id may name sub-folders, never a place outside."""
    if _NO_FILE_NAME.search(document_id):
        raise BadInput(
            "unsafe-path",
            "This document id cannot be a file name",
            where=Where(document=document_id),
            expected="a relative path in which no name is empty or starts with a dot",
            fix="Rename the document.",
        )
    path = folder / f"{document_id}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


_LONGEST = 255  # bytes of a name, on nearly every file system
_LONGEST_SUFFIX = 8  # of an annotation file, or of its temporary name
SHORTENED = "document ids too long for a file name, shortened"


def new_path(folder: Path, document_id: str, suffix: str, ledger: Ledger) -> Path:
    """The file of a document in `folder`, which must not exist yet; too long an id is shortened, and counted."""
    try:
        path = path_within(folder, file_id(document_id, ledger), suffix)
        if path.exists():
            raise FileExistsError
    except (FileExistsError, NotADirectoryError) as error:  # "a" is a file a.txt, and "a.txt/b" wants a folder a.txt
        raise BadInput(
            "duplicate-id",
            "Two documents would be written to the same file",
            where=Where(document=document_id),
            fix="Rename one of them.",
        ) from error
    except OSError as error:
        raise BadInput(
            "unsafe-path",
            "This document id cannot be a file name",
            where=Where(document=excerpt(document_id)),
            got=error.strerror or str(error),
            fix="Rename the document.",
        ) from error
    return path


def file_id(document_id: str, ledger: Ledger) -> str:
    """The id as the name of a file: a part that is too long is cut, and ends in a hash of all of it instead.

    >>> file_id("notes/1", Ledger())
    'notes/1'
    """
    parts = document_id.split("/")
    short = [_shortened(part) for part in parts]
    ledger.lost(SHORTENED, short != parts)
    return "/".join(short)


def _shortened(part: str) -> str:
    data = part.encode("utf-8", "surrogatepass")
    longest = _LONGEST - _LONGEST_SUFFIX
    if len(data) <= longest:
        return part
    digest = hashlib.sha256(data).hexdigest()[:16]
    return f"{data[: longest - 17].decode('utf-8', 'ignore')}-{digest}"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
