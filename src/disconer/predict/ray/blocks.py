"""Blocks: from the reader through an actor to the writer, with the account of what happened to each. No Ray here.

An actor loads the model once, and finds the entities of block after block.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from traceback import format_exc
from typing import Any, Protocol

from disconer.core.errors import DisconerError, DisconerWarning, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.native import from_record, to_line
from disconer.formats.remote import open_source
from disconer.predict.inputs import by_block, placed_documents, units
from disconer.predict.lazy import load_recognizer
from disconer.predict.local.jobs import THREAD_VARIABLES
from disconer.predict.local.manifest import model_identity
from disconer.predict.local.messages import error_from_dict, error_to_dict, ledger_from_dict, ledger_to_dict
from disconer.predict.ray.contents import PartsWalk
from disconer.predict.ray.parts import ENCODINGS
from disconer.predict.ray.plan import Plan
from disconer.predict.recognizer import Recognizer
from disconer.store.names import find_model

END = -1  # the number of the marker after the last block


@dataclass(slots=True)
class Block:
    """Documents that go through the model together.

    content: the documents, as native JSONL when they come from the reader, then as the output has them.
    ids: of the documents. n_before: how many were sent before it.
    contents: digests of the input of parts, as far as they have been read to their ends; see `PartsWalk`.
    error: why it could not be processed. failure: Python's message and traceback, if the error is not one of ours.
    """

    number: int
    content: bytes = b""
    ids: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    warnings: list[str] = field(default_factory=list)
    n_before: int = 0
    contents: dict[int, str] = field(default_factory=dict)
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
            "contents": list(self.contents.items()),
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
            contents=dict(account["contents"]),
            error=account["error"] and error_from_dict(account["error"]),
            failure=failure,
        )


def read_blocks(plan: Plan) -> Iterator[Block]:
    """Blocks with their documents as native JSONL, and at last one without, which says that it was the last.

    An error in the input takes the place of the block that it is in, and ends the reading.
    """
    ledger = Ledger(skip_bad=plan.skip_bad)
    walk = PartsWalk(plan.blocks_per_part, plan.finished)
    n_blocks = 0
    try:
        inputs = [unit for path, format in plan.given for unit in units(open_source(path), format)]
        for number, documents in by_block(placed_documents(inputs, ledger, plan.rest, walk)):
            content = b"".join(map(to_line, documents))
            yield Block(number, content, ledger=ledger.taken(), n_before=n_blocks, contents=walk.taken())
            n_blocks += 1
        walk.end()
    except Exception as error:
        yield Block(END, ledger=ledger.taken(), n_before=n_blocks).spoilt(error)
    else:
        yield Block(END, ledger=ledger.taken(), n_before=n_blocks, contents=walk.taken())


TAKEN_OVER = "An actor died, and another one took over its documents."
TRIES = 3  # of a block: whenever an actor dies, Ray gives its block to another one, without any limit


class Attempts(Protocol):
    """Counts how often blocks were started, by all actors together."""

    def begin(self, block: int) -> int: ...

    def end(self, block: int) -> None: ...


class Finder:
    """The class of Ray's actors. All errors come back as rows, so that they are reported in one place."""

    def __init__(self, plan: Plan, attempts: Attempts) -> None:
        for variable in THREAD_VARIABLES:
            os.environ.setdefault(variable, "1")  # there are as many actors as processors
        self._attempts = attempts
        self._encode = ENCODINGS[plan.to].encode
        self._broken: Exception | None = None
        try:
            self._recognizer = _load(plan)
        except Exception as error:
            self._broken = error

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        block = Block.from_row(row)
        if block.number == END:
            return block.to_row()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", DisconerWarning)
            try:
                self._fill(block)
            except Exception as error:
                block.spoilt(error)
        block.warnings += [str(one.message) for one in warned if issubclass(one.category, DisconerWarning)]
        return block.to_row()

    def _fill(self, block: Block) -> None:
        if self._broken:
            raise self._broken
        documents = list(_documents(block))
        tries = self._attempts.begin(block.number)
        if tries > TRIES:
            raise _deadly(documents)
        if tries > 1:
            block.warnings.append(TAKEN_OVER)
        found = list(self._recognizer.annotate(documents))
        block.ids = [document.id for document in found]
        block.content = self._encode(found, block.ledger)
        self._recognizer.account(block.ledger)
        self._attempts.end(block.number)


def _load(plan: Plan) -> Recognizer:
    """The model, which must be the one that the prediction was started with, wherever this actor runs."""
    folder = find_model(plan.settings.model)
    if model_identity(folder) != plan.model:
        raise DisconerError(
            f"The model on {os.uname().nodename} is not the one that this prediction was started with",
            where=Where(str(folder)),
            fix="Copy the same model to every machine, or to a shared disk.",
        )
    return load_recognizer(plan.settings)


def _deadly(documents: Sequence[Document]) -> DisconerError:
    return DisconerError(
        f"Actors died {TRIES} times on the same {len(documents)} documents",
        got=f"{documents[0].id!r} to {documents[-1].id!r}",
        fix="The usual cause is memory: try fewer --actors. Finished parts are kept: run the same command again.",
    )


def _documents(block: Block) -> Iterator[Document]:
    for line in block.content.split(b"\n"):
        if line:
            yield from_record(json.loads(line), ledger=Ledger(), path="")
