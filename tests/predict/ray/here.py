"""A prediction as on Ray, but all of it in this process: the reader's blocks go to one actor, one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from disconer import Document
from disconer.core.ledger import Ledger
from disconer.formats.remote import open_source
from disconer.predict.inputs import units
from disconer.predict.ray import cluster as connect
from disconer.predict.ray import stream
from disconer.predict.ray.blocks import Block, Finder, read_blocks
from disconer.predict.ray.plan import Cluster, Plan
from disconer.predict.ray.work import Outcome, RayWork
from disconer.predict.settings import Settings

N = 30  # documents, in blocks of four


def some_documents() -> list[Document]:
    return [Document(f"d{number:02}", f"p {'in my ' * (number % 5)}k") for number in range(N)]


class Attempts:
    """Counts them as the actors of a cluster do together. deadly: a block at which so many actors have died before."""

    def __init__(self, deadly: int | None = None, times: int = 3) -> None:
        self.begun: Counter[int] = Counter()
        if deadly is not None:
            self.begun[deadly] = times

    def begin(self, block: int) -> int:
        self.begun[block] += 1
        return self.begun[block]

    def end(self, block: int) -> None:
        del self.begun[block]


def blocks_here(plan: Plan, attempts: Attempts | None = None, **_: object) -> Iterator[Block]:
    find = Finder(plan, attempts or Attempts())
    for block in read_blocks(plan):
        yield Block.from_row(find(block.to_row()))


@contextmanager
def joined_here(address: str, actors: int | None, gpus_per_actor: float) -> Iterator[int]:
    yield actors or 1


def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "stream_blocks", blocks_here)
    monkeypatch.setattr(connect, "joined", joined_here)


def predicted(
    source: Path | str,
    out: Path | str,
    model: Path,
    *,
    to: str = "jsonl",
    force: bool = False,
    ledger: Ledger | None = None,
    **settings: float,
) -> Outcome:
    """Predict into parts of two blocks each."""
    inputs = list(units(open_source(str(source))))
    work = RayWork([(str(source), None)], inputs, Settings(str(model), **settings), ledger or Ledger(), to=to)
    work.plan = Plan(**{name: getattr(work.plan, name) for name in Plan.__slots__} | {"blocks_per_part": 2})
    return work.into(str(out), Cluster("local", 2), force=force)
