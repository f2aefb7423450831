"""The reader: the blocks that are left to do, one after another. No Ray here."""

from __future__ import annotations

from collections.abc import Iterator

from disconer.core.ledger import Ledger
from disconer.formats.native import to_line
from disconer.formats.remote import open_source
from disconer.predict.inputs import units
from disconer.predict.ray.block import END, Block
from disconer.predict.ray.plan import Plan
from disconer.predict.records import by_block, placed_documents


def read_blocks(plan: Plan) -> Iterator[Block]:
    """Blocks with their documents as native JSONL, and at last one without, which says that it was the last.

    What is wrong with the input is said in place of the block that it is in, and ends the reading.
    """
    ledger = Ledger(skip_bad=plan.skip_bad)
    n_blocks = 0
    try:
        inputs = [unit for path, format in plan.given for unit in units(open_source(path), format)]
        for number, documents in by_block(placed_documents(inputs, ledger, plan.rest)):
            content = b"".join(map(to_line, documents))
            yield Block(number, content, ledger=ledger.taken(), n_before=n_blocks)
            n_blocks += 1
    except Exception as error:
        yield Block(END, ledger=ledger.taken(), n_before=n_blocks).spoilt(error)
    else:
        yield Block(END, ledger=ledger.taken(), n_before=n_blocks)
