"""An actor: it loads the model once, and finds the entities of block after block. No Ray here."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from disconer.core.errors import DisconerError, DisconerWarning, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.native import from_record
from disconer.predict.lazy import load_recognizer
from disconer.predict.local.jobs import THREAD_VARIABLES
from disconer.predict.local.manifest import model_identity
from disconer.predict.ray.block import END, Block
from disconer.predict.ray.parts import ENCODINGS
from disconer.predict.ray.plan import Plan
from disconer.predict.recognizer import Recognizer
from disconer.store.names import find_model

TAKEN_OVER = "An actor died, and another one took over its documents."
TRIES = 3  # of a block: Ray gives it to another actor whenever one dies, were it for ever


class Attempts(Protocol):
    """Counts how often blocks were begun, whoever began them."""

    def begin(self, block: int) -> int: ...

    def end(self, block: int) -> None: ...


class Finder:
    """What Ray makes an actor of. Whatever goes wrong in it comes back as a row, for one place to tell people."""

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
    """The model, which must be the one that the prediction was begun with, wherever this actor runs."""
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
