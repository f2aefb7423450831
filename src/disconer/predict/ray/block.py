"""Blocks: from the reader through an actor to the writer, with the account of what happened to each. No Ray here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from traceback import format_exc
from typing import Any

from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.formats.native import to_line
from disconer.formats.remote import open_source
from disconer.predict.inputs import by_block, placed_documents, units
from disconer.predict.local.messages import error_from_dict, error_to_dict, ledger_from_dict, ledger_to_dict
from disconer.predict.ray.plan import Plan

END = -1  # the number of what comes after the last block


@dataclass(slots=True)
class Block:
    """Documents that go through the model together.

    content: the documents, as native JSONL when they come from the reader, then as the output has them.
    ids: of the documents. n_before: how many were sent before it.
    error: why it could not be done. failure: what Python said, and where, of an error that is not ours.
    """

    number: int
    content: bytes = b""
    ids: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    warnings: list[str] = field(default_factory=list)
    n_before: int = 0
    error: DisconerError | None = None
    failure: tuple[str, str] | None = None

    def spoilt(self, error: Exception) -> Block:
        """The block without its content, but with the reason. To be called where the error was caught."""
        self.content = b""
        if isinstance(error, DisconerError):
            self.error = error
        else:
            self.failure = f"{type(error).__name__}: {error}", format_exc()
        return self

    def to_row(self) -> dict[str, Any]:
        """A row of a Ray data set."""
        account = {
            "ids": self.ids,
            "ledger": ledger_to_dict(self.ledger),
            "warnings": self.warnings,
            "n_before": self.n_before,
            "error": self.error and error_to_dict(self.error),
            "failure": self.failure,
        }
        return {"number": self.number, "content": self.content, "account": json.dumps(account)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Block:
        account = json.loads(row["account"])
        failure = account["failure"] and tuple(account["failure"])
        return cls(
            number=int(row["number"]),
            content=row["content"],
            ids=account["ids"],
            ledger=ledger_from_dict(account["ledger"]),
            warnings=account["warnings"],
            n_before=account["n_before"],
            error=account["error"] and error_from_dict(account["error"]),
            failure=failure,
        )


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
