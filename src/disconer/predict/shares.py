"""Which process does what: an input is cut into blocks, and a share of n takes every n-th block.

A block goes through the model by itself, whoever has it. So its batches, and with them the last digits of scores, are
the same however many processes share the work. Blocks are cut by what is known without parsing, positions and sizes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from disconer.core.errors import DisconerError

# A block ends with the record by which it has as much as this: about what the recogniser looks at together.
BLOCK_RECORDS = 1024
BLOCK_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Share:
    """One of `of` shares of an input, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """The share that people write as 3/16."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if found and 1 <= int(found[1]) <= int(found[2]):
            return cls(int(found[1]), int(found[2]))
        raise DisconerError("This is not a share", got=repr(text), expected="K/N with K from 1 to N, such as 3/16")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def file_name(self) -> str:
        """What its files are called, without a suffix; names sort as shares do."""
        width = max(2, len(str(self.of)))
        return f"part-{self.number:0{width}}-of-{self.of:0{width}}"

    def has(self, block: int) -> bool:
        return block % self.of == self.number - 1

    def split(self, n: int) -> list[Share]:
        """This share as `n` smaller ones.

        >>> [str(share) for share in Share(3, 4).split(2)]
        ['3/8', '7/8']
        """
        return [Share(self.number + self.of * position, self.of * n) for position in range(n)]


WHOLE = Share(1, 1)


class Cutter:
    """Cuts a row of records into blocks.

    block: that of the last record.
    """

    def __init__(self) -> None:
        self.block = 0
        self._n_records = 0
        self._n_bytes = 0

    def place(self, size: int) -> int:
        """The block of the next record, which has so many bytes."""
        if self._n_records == BLOCK_RECORDS or self._n_bytes >= BLOCK_BYTES:
            self.block += 1
            self._n_records = self._n_bytes = 0
        self._n_records += 1
        self._n_bytes += size
        return self.block
