"""Inputs in units, cut into blocks: shard K of N takes every N-th block.

A block goes through the model by itself. So its batches, and with them the last digits of scores, do not depend on the
number of processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import Format, format_named, read, sniff
from disconer.formats.native import to_line
from disconer.formats.source import Member, Source
from disconer.predict.walk import Cutter, Walk


@dataclass(frozen=True, slots=True)
class Unit:
    """An input with its own output: a file, or the files of a folder or archive that belong together.

    name: its path within the given input, without a suffix.
    """

    name: str
    source: Source
    format: Format

    @property
    def size(self) -> int:
        """Its bytes as they are stored."""
        return sum(member.size for member in self.source)

    def documents(self, ledger: Ledger) -> Iterator[Document]:
        """Its documents, without entities and everything about them."""
        for document in read(self.source, self.format.name, ledger):
            yield document.replace(entities=(), extras={})


def units(source: Source, from_format: str | None = None) -> Iterator[Unit]:
    """The units of a source, in the order of their names."""
    format = format_named(from_format) if from_format else sniff(source)
    if format.name == "brat":  # annotations do not matter here, and may be missing
        format = format_named("text")
    members: dict[str, list[Member]] = {}
    for member in source:
        if source.is_single_file or member.suffix in format.suffixes:
            members.setdefault(member.stem, []).append(member)
    for name, own in members.items():
        yield Unit(name, source if source.is_single_file else source.only(own), format)


@dataclass(frozen=True, slots=True)
class Share:
    """One of `of` shards of an input, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """The shard written as 3/16."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if found and 1 <= int(found[1]) <= int(found[2]):
            return cls(int(found[1]), int(found[2]))
        raise DisconerError("This is not a shard", got=repr(text), expected="K/N with K from 1 to N, such as 3/16")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def file_name(self) -> str:
        """The name of its files, without a suffix; names sort as shards do."""
        width = max(2, len(str(self.of)))
        return f"part-{self.number:0{width}}-of-{self.of:0{width}}"

    def has(self, block: int) -> bool:
        return block % self.of == self.number - 1

    def reads(self, block: int) -> bool:
        """Whether its files are read: those of others are not opened."""
        return self.has(block)

    def split(self, n: int) -> list[Share]:
        """This shard as `n` smaller ones.

        >>> [str(share) for share in Share(3, 4).split(2)]
        ['3/8', '7/8']
        """
        return [Share(self.number + self.of * position, self.of * n) for position in range(n)]


WHOLE = Share(1, 1)


@dataclass(frozen=True, slots=True)
class Reread(Share):
    """A shard that is only read, to see whether it is what it was: it has no documents."""

    def has(self, block: int) -> bool:
        return False

    def reads(self, block: int) -> bool:
        return Share.has(self, block)


# A file of many that is not larger than this is one record, parsed by one process only. Larger ones, and a file that
# is the whole input, are parsed by all processes and divided by document.
SMALL_FILE = 4 * 2**20

Placed = tuple[int, Document]  # a document and its block


def placed_documents(
    inputs: Sequence[Unit], ledger: Ledger, share: Share = WHOLE, walk: Walk | None = None
) -> Iterator[Placed]:
    """The documents of a shard, in order; ids must be unique."""
    walk = walk or Walk()
    origins: dict[str, Unit] = {}
    for unit in inputs:
        small = len(inputs) > 1 and unit.size <= SMALL_FILE
        for block, document in _placed(unit, ledger, share, walk, small=small):
            first = origins.setdefault(document.id, unit) if len(inputs) > 1 else unit  # within one, `read` looks
            if first is unit:
                yield block, document
            else:
                ledger.error(_same_id(document.id, first, unit))


def by_block(placed: Iterable[Placed]) -> Iterator[tuple[int, Iterator[Document]]]:
    """Blocks with their documents, each to be taken before the next."""
    for block, own in groupby(placed, key=itemgetter(0)):
        yield block, map(itemgetter(1), own)


def units_by_block(inputs: Iterable[Unit], share: Share = WHOLE) -> Iterator[list[Unit]]:
    """The units of a shard that go through the model together, for outputs of one file per unit."""
    cutter = Cutter()
    for block, own in groupby(inputs, key=lambda unit: cutter.place(unit.size)):
        if share.has(block):
            yield list(own)


def _placed(unit: Unit, ledger: Ledger, share: Share, walk: Walk, *, small: bool) -> Iterator[Placed]:
    if unit.format.lines_stand_alone:

        def is_own(line: bytes) -> bool:
            return not line.isspace() and share.has(walk.step(line, len(line)))

        members = [replace(member, takes=is_own) for member in unit.source]
        # A line's document is yielded before the next line is read, so the last block is its own.
        for document in replace(unit, source=unit.source.only(members)).documents(ledger):
            yield walk.block, document
    elif small or unit.format.name == "text":
        block = walk.step(f"{unit.name}\n{unit.size}\n".encode("utf-8", "replace"), unit.size)
        own = replace(unit, source=walk.read(unit.source)) if share.reads(block) else unit
        if share.has(block):
            yield from ((block, document) for document in own.documents(ledger))
    else:
        faults = ledger if share.number == 1 else Ledger(skip_bad=ledger.skip_bad)  # counted by one process
        for document in unit.documents(faults):
            block = walk.step(to_line(document), len(document.text.encode("utf-8", "replace")))
            if share.has(block):
                yield block, document


def _same_id(id: str, first: Unit, second: Unit) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two documents have the same id",
        where=Where(str(second.source), document=id),
        got=f"another one in {first.source}",
        fix="Predict them separately, into two outputs.",
    )
