"""Files of blocks: lines that belong together, an empty line after each block."""

from __future__ import annotations

from collections.abc import Iterator

from disconer.formats.sentencewise import lines_of
from disconer.formats.source import Member

Block = list[tuple[int, str]]  # lines with their numbers


def blocks(member: Member) -> Iterator[Block]:
    """The blocks of a file, none of them empty."""
    block: Block = []
    for number, line in lines_of(member):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block
