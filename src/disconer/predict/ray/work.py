"""A prediction on Ray, from its inputs to the parts of its output."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby

from disconer.core.errors import BadInput, DisconerError, DisconerWarning, Where
from disconer.core.ledger import Ledger
from disconer.core.progress import progress
from disconer.predict.inputs import Unit
from disconer.predict.local.jobs import RemoteTraceback, useful_jobs
from disconer.predict.local.manifest import identify
from disconer.predict.ray.blocks import END, Block, read_blocks
from disconer.predict.ray.ids import StoredIds
from disconer.predict.ray.parts import ENCODINGS, Encoded, Finished, Parts
from disconer.predict.ray.plan import Cluster, Plan, blocks_per_part
from disconer.predict.settings import Settings
from disconer.store.names import find_model


@dataclass(slots=True)
class Outcome:
    """The number of new and of existing documents, and of parts."""

    written: int = 0
    parts: int = 0
    written_before: int = 0
    parts_before: int = 0


class RayWork:
    """A prediction on Ray into a folder of parts."""

    def __init__(
        self,
        given: Sequence[tuple[str, str | None]],
        inputs: Sequence[Unit],
        settings: Settings,
        ledger: Ledger,
        *,
        to: str,
    ) -> None:
        self._inputs = inputs
        self._ledger = ledger
        self._ids = StoredIds(ENCODINGS[to].stored)
        self._contents: dict[int, str] = {}
        self._outcome = Outcome()
        self._identity = identify(inputs, settings, skip_bad=ledger.skip_bad)
        settings = replace(settings, model=str(find_model(settings.model).resolve()))  # actors start in other folders
        self.plan = Plan(
            tuple(given), settings, self._identity.model, to, blocks_per_part(inputs), skip_bad=ledger.skip_bad
        )

    def into(self, out: str, cluster: Cluster, *, force: bool = False) -> Outcome:
        """Predict what is missing. Finished parts of an interrupted run are kept."""
        parts = Parts(out, self.plan.to, self._identity)
        finished = parts.open(force=force)
        self._remember(finished)
        plan = replace(self.plan, finished={part.number: part.content for part in finished})
        if not parts.is_complete or self._is_left(plan):
            self._predict(parts, plan, cluster)
        return self._outcome

    def _is_left(self, plan: Plan) -> bool:
        """Whether documents are left though no part is missing; the input is read, here and without Ray."""
        block = next(read_blocks(plan))
        if block.number != END:
            return True
        self._hear(block)
        return False

    def _predict(self, parts: Parts, plan: Plan, cluster: Cluster) -> None:
        from disconer.predict.ray.cluster import joined
        from disconer.predict.ray.stream import stream_blocks

        with joined(cluster.address, cluster.actors, cluster.gpus_per_actor) as room:
            actors = useful_jobs(room, self._inputs)
            with closing(stream_blocks(plan, actors=actors, gpus_per_actor=cluster.gpus_per_actor)) as blocks:
                self._write(progress(self._checked(blocks), "blocks"), parts)
        done = self._outcome
        parts.complete(done.parts + done.parts_before, done.written + done.written_before)

    def _remember(self, finished: Sequence[Finished]) -> None:
        for part in finished:
            self._outcome.parts_before += 1
            self._outcome.written_before += len(part.ids)
            self._ids.remember(part.ids)

    def _checked(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks, none of which may be missing; their counts and warnings are collected."""
        last = None
        for n_before, block in enumerate(blocks):
            self._hear(block)
            if block.n_before != n_before:
                raise _lost(block)
            last = block.number
            if last != END:
                yield block
        if last != END:
            raise _lost(None)

    def _hear(self, block: Block) -> None:
        self._ledger.add(block.ledger)
        self._contents |= block.contents
        for warning in block.warnings:
            warnings.warn(warning, DisconerWarning, stacklevel=1)
        if block.error:
            raise block.error
        if block.failure:
            reason, traceback = block.failure
            raise DisconerError(
                "An actor failed",
                got=reason,
                fix="If memory is short, try fewer --actors. --debug before `predict` shows where it failed.",
            ) from RemoteTraceback(traceback)

    def _write(self, blocks: Iterable[Block], parts: Parts) -> None:
        for number, own in groupby(blocks, key=lambda block: block.number // self.plan.blocks_per_part):
            ids: dict[str, str] = {}
            parts.write(number, (self._taken(block, ids) for block in own), ids, self._contents)
            self._outcome.parts += 1
            self._outcome.written += len(ids)

    def _taken(self, block: Block, ids: dict[str, str]) -> Encoded:
        """The part of a block to be written: all of it, unless ids are duplicates."""
        own = [self._ids.add(id, self._ledger) for id in block.ids]
        for id, stored in zip(block.ids, own, strict=True):
            if stored is None:
                self._ledger.error(_same_id(id))
            else:
                ids[id] = stored
        return Encoded(block.content, own)


def _lost(block: Block | None) -> DisconerError:
    return DisconerError(
        "Ray lost a block of the input",
        got=f"block {block.number} too early" if block else None,
        fix="Run the same command again to continue from the last finished part.",
    )


def _same_id(id: str) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two documents have the same id",
        where=Where(document=id),
        fix="Rename one of them, or add --skip-bad to keep the first.",
    )
