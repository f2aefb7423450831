"""The documents of a share. What belongs to others is passed over without being parsed, where the format allows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.predict.inputs import Unit
from disconer.predict.shares import WHOLE, Cutter, Share

# A file of many that is not larger than this is one record, which others need not parse. Larger ones, and a file that
# is the whole input, are parsed by everybody and shared by document.
SMALL_FILE = 4 * 2**20
_DIGEST_BYTES = 16

Placed = tuple[int, Document]  # a document, and the block that it is in


class Walk:
    """What was seen on the way through an input. It ends the same for every share, if their input is the same."""

    def __init__(self) -> None:
        self.n_records = 0
        self._cutter = Cutter()
        self._seen = blake2b(digest_size=_DIGEST_BYTES)

    def step(self, content: bytes, size: int) -> int:
        """The block of the next record. `content` is what tells it from another one."""
        self.n_records += 1
        self._seen.update(content)
        return self._cutter.place(size)

    @property
    def block(self) -> int:
        """That of the last record."""
        return self._cutter.block

    @property
    def digest(self) -> str:
        """Of all records."""
        return self._seen.hexdigest()


def placed_documents(
    inputs: Sequence[Unit], ledger: Ledger, share: Share = WHOLE, walk: Walk | None = None
) -> Iterator[Placed]:
    """The documents of a share, in their order, no two of which may have the same id."""
    walk = walk or Walk()
    origins: dict[str, Unit] = {}
    for unit in inputs:
        small = len(inputs) > 1 and unit.size <= SMALL_FILE
        for block, document in _placed(unit, ledger, share, walk, small=small):
            first = origins.setdefault(document.id, unit) if len(inputs) > 1 else unit  # within one, `read` looks
            if first is unit:
                yield block, document
            else:
                ledger.fault(_same_id(document.id, first, unit))


def by_block(placed: Iterable[Placed]) -> Iterator[tuple[int, Iterator[Document]]]:
    """Blocks with their documents, each to be taken before the next."""
    for block, own in groupby(placed, key=itemgetter(0)):
        yield block, map(itemgetter(1), own)


def units_by_block(inputs: Iterable[Unit], share: Share = WHOLE) -> Iterator[list[Unit]]:
    """The units of a share, for outputs that are a file for each: units that go through the model together."""
    cutter = Cutter()
    for block, own in groupby(inputs, key=lambda unit: cutter.place(unit.size)):
        if share.has(block):
            yield list(own)


def _placed(unit: Unit, ledger: Ledger, share: Share, walk: Walk, *, small: bool) -> Iterator[Placed]:
    if unit.format.lines_stand_alone:

        def is_own(line: bytes) -> bool:
            return not line.isspace() and share.has(walk.step(line, len(line)))

        members = [replace(member, takes=is_own) for member in unit.source]
        # A line's document comes before the next line is taken: so the last block is its own.
        for document in replace(unit, source=unit.source.only(members)).documents(ledger):
            yield walk.block, document
    elif small or unit.format.name == "text":
        block = walk.step(f"{unit.name}\n{unit.size}\n".encode("utf-8", "replace"), unit.size)
        if share.has(block):
            yield from ((block, document) for document in unit.documents(ledger))
    else:
        faults = ledger if share.number == 1 else Ledger(skip_bad=ledger.skip_bad)  # everybody sees them; one counts
        for document in unit.documents(faults):
            text = document.text.encode("utf-8", "replace")
            block = walk.step(text, len(text))
            if share.has(block):
                yield block, document


def _same_id(id: str, first: Unit, second: Unit) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two documents have the same id",
        where=Where(str(second.source), document=id),
        got=f"another one in {first.source}",
        fix="Predict them one after the other, into two outputs.",
    )
