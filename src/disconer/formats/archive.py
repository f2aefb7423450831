"""Members of a .zip, whose bytes may be damaged or chosen by anyone."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from posixpath import normpath
from struct import Struct
from typing import BinaryIO, cast

from disconer.core.errors import BadInput, Where, excerpt

SMALL = 2**20  # bytes; for larger members the difference does not matter

_HEADER_SIZE = 30
_LOCAL_HEADER = Struct("<6xH18xHH")  # flags, and how long the two fields are that stand between it and the data
_END = Struct("<10xH10x")  # the end of the directory: the number of members
_SEE_ZIP64 = 0xFFFF
_ENCRYPTED, _UTF8 = 0x1, 0x800
_RAW_DEFLATE = -15  # a deflate stream without the header of zlib
# What `zipfile` raises, besides BadZipFile, for archives that it does not recognise as damaged.
_UNUSUAL = (NotImplementedError, RuntimeError, ValueError, IndexError, OverflowError, struct.error)


def zip_members(path: Path) -> Iterator[tuple[zipfile.ZipFile, zipfile.ZipInfo, str]]:
    """The files of an archive with their names below it. Hidden ones are skipped."""
    try:
        archive = zipfile.ZipFile(path)
        _check_count(path, len(archive.infolist()))
    except (OSError, EOFError, zipfile.BadZipFile, *_UNUSUAL) as error:
        raise BadInput(
            "unreadable-file",
            "This .zip file is damaged, incomplete, or of a kind that cannot be read",
            where=Where(str(path)),
            got=excerpt(str(error) or type(error).__name__, 120),
            fix="Copy or download it again, or unpack it and give the folder.",
        ) from error
    for info in archive.infolist():
        given = info.filename.replace("\\", "/")
        if not given:
            raise BadInput(
                "unreadable-file",
                "A member of this archive has no name",
                where=Where(str(path)),
                fix="Copy or download the archive again, or unpack it and give the folder.",
            )
        if given.startswith("/") or ".." in given.split("/") or stat.S_ISLNK(info.external_attr >> 16):
            raise BadInput(
                "unsafe-path",
                "A member of this archive has a path outside of it",
                where=Where(str(path)),
                got=info.filename,
                expected="names below the archive's own folder",
                fix="Do not trust this archive; ask for a clean one.",
            )
        name = normpath(given)  # some archivers write ./ before every name
        hidden = "/." in f"/{name}" or "__MACOSX" in name.split("/")
        if not info.is_dir() and not hidden:
            yield archive, info, name


def _check_count(path: Path, n_members: int) -> None:
    """A damaged length in an archive's directory may swallow the entries after it, which `zipfile` does not see."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - _END.size - 2**16))
        tail = file.read()
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) - end < _END.size:
        return
    (stated,) = _END.unpack_from(tail, end)
    if stated not in (n_members, _SEE_ZIP64):
        raise zipfile.BadZipFile(f"its directory lists {n_members} files and says that there are {stated}")


def open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """A member's content. Large, unusual or damaged members are left to `zipfile`, which reads them or raises."""
    if info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile("it is encrypted: unpack the archive with its password first")
    content = _read_small(archive, info)
    if content is not None:
        return BytesIO(content)
    try:
        return cast(BinaryIO, archive.open(info))
    except _UNUSUAL as error:
        raise zipfile.BadZipFile(f"{error or type(error).__name__}; another program may unpack the archive") from error


def _read_small(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | None:
    file = archive.fp  # streams that `zipfile` has open find their places again
    if file is None or max(info.file_size, info.compress_size) > SMALL:
        return None
    file.seek(info.header_offset)
    header = file.read(_HEADER_SIZE)
    if len(header) < _HEADER_SIZE or not header.startswith(b"PK\3\4"):
        return None
    flags, name_size, extra_size = _LOCAL_HEADER.unpack(header)
    name = file.read(name_size)
    if name != info.orig_filename.encode("utf-8" if flags & _UTF8 else "cp437", "replace"):
        return None  # one of the two names is damaged, and so would be the document's id
    file.seek(extra_size, 1)
    data = file.read(info.compress_size)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        try:
            data = zlib.decompressobj(_RAW_DEFLATE).decompress(data, info.file_size + 1)
        except zlib.error:
            return None
    elif info.compress_type != zipfile.ZIP_STORED:
        return None
    return data if len(data) == info.file_size and zlib.crc32(data) == info.CRC else None
