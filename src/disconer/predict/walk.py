"""The walk through an input: where its blocks end, and digests by which a later run knows it again.

Blocks are cut by what is known without parsing: positions and sizes.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b

from disconer.core.errors import BadInput
from disconer.formats.source import Source

# A block ends once it has this much: about what the recogniser processes together.
BLOCK_RECORDS = 1024
BLOCK_BYTES = 200_000

_DIGEST_BYTES = 16
_SUMS = 2 ** (8 * _DIGEST_BYTES)


class Cutter:
    """Cuts a sequence of records into blocks.

    block: that of the last record.
    """

    def __init__(self) -> None:
        self.block = 0
        self._n_records = 0
        self._n_bytes = 0

    def place(self, size: int) -> int:
        """The block of the next record, given its size in bytes."""
        if self._n_records == BLOCK_RECORDS or self._n_bytes >= BLOCK_BYTES:
            self.block += 1
            self._n_records = self._n_bytes = 0
        self._n_records += 1
        self._n_bytes += size
        return self.block


class Walk:
    """A walk through an input, record by record. A record is a line, a document or a file."""

    def __init__(self) -> None:
        self.n_records = 0
        self._cutter = Cutter()
        self._seen = blake2b(digest_size=_DIGEST_BYTES)
        self._content = 0

    def step(self, record: bytes, size: int) -> int:
        """The block of the next record. `record` is its content; of a file that others may read, its name and size."""
        self.n_records += 1
        self._seen.update(record)
        return self._cutter.place(size)

    def read(self, source: Source) -> Source:
        """The files of the last record, with their content, so that it is read only once."""
        members = []
        for member in source:
            with suppress(BadInput):  # raised again, and reported, as its documents are read
                content = member.read()
                self._note(f"{member.name}\n".encode("utf-8", "surrogateescape"), content)
                member = member.holding(content)
            members.append(member)
        return source.only(members)

    def _note(self, name: bytes, content: bytes) -> None:
        self._content += int.from_bytes(blake2b(name + content, digest_size=_DIGEST_BYTES).digest())

    @property
    def block(self) -> int:
        """That of the last record."""
        return self._cutter.block

    @property
    def digest(self) -> str:
        """Of all records: the same for all shards of the same input."""
        return self._seen.hexdigest()

    @property
    def content(self) -> str:
        """A digest of the files that were read, in any order."""
        return _hexadecimal(self._content)


def joined_content(contents: Iterable[str]) -> str:
    """The digest of the content of a shard, by those of the smaller shards that it was divided into."""
    return _hexadecimal(sum(int(content, 16) for content in contents))


def _hexadecimal(total: int) -> str:
    return f"{total % _SUMS:0{2 * _DIGEST_BYTES}x}"
