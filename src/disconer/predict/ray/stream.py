"""The stream of blocks through Ray Data: from the reader, through actors, back to this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, DataContext, Datasource, ReadTask
from ray.data.block import BlockMetadata

from disconer.predict.ray.blocks import Block, Finder, read_blocks
from disconer.predict.ray.cluster import translated
from disconer.predict.ray.plan import Plan

AHEAD = 2  # blocks that an actor has: one that it works on, one that waits

_SCHEMA = pa.schema([("number", pa.int64()), ("content", pa.binary()), ("account", pa.string())])


@ray.remote(num_cpus=0)
class _Attempts:
    """Lives beside the actors, and so remembers what those that died were at."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()

    def begin(self, block: int) -> int:
        self._begun[block] += 1
        return self._begun[block]

    def end(self, block: int) -> None:
        del self._begun[block]


class RemoteAttempts:
    """Attempts that all actors of a prediction count together."""

    def __init__(self) -> None:
        self._actor = _Attempts.remote()  # type: ignore[attr-defined]

    def begin(self, block: int) -> int:
        return int(ray.get(self._actor.begin.remote(block)))

    def end(self, block: int) -> None:
        self._actor.end.remote(block)


class BlockSource(Datasource):
    """The input as Ray Data sees it: one task, which yields a block whenever there is room for it."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._plan = plan

    @property
    def supports_distributed_reads(self) -> bool:
        return False  # files of this machine need not be on others

    def estimate_inmemory_data_size(self) -> None:
        return None

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        plan = self._plan  # all that travels

        def read() -> Iterator[pa.Table]:
            for block in read_blocks(plan):
                yield pa.Table.from_pylist([block.to_row()], schema=_SCHEMA)

        return [ReadTask(read, BlockMetadata(None, None, None, None))]


def stream_blocks(plan: Plan, *, actors: int, gpus_per_actor: float) -> Generator[Block, None, None]:
    """All blocks of the plan as actors have filled them, in order, no more of them at a time than are worked on."""
    context = DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = 1  # bytes: so that every row travels by itself
    context.execution_options.preserve_order = True
    with translated(), DataContext.current(context):
        # Without a processor of its own, the reader can start on a machine that has none to give.
        read = ray.data.read_datasource(BlockSource(plan), override_num_blocks=1, num_cpus=0)
        found = read.map(
            Finder,
            fn_constructor_args=(plan, RemoteAttempts()),
            compute=ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=AHEAD),
            num_cpus=1,
            num_gpus=gpus_per_actor or None,
        )
        for rows in found.iter_batches(batch_size=None, prefetch_batches=0, batch_format="pyarrow"):
            yield from map(Block.from_row, rows.to_pylist())
