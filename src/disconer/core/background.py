"""Prefetching: items are made in the background before they are needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Made = TypeVar("Made")

AHEAD = 4  # batches: enough to even out slow ones, few enough not to fill memory


def made_ahead(
    make: Callable[[Job], Made], jobs: Iterable[Job], ahead: int = AHEAD, threads: int = 1
) -> Generator[Made]:
    """`make(job)` for each job, in order, computed by background threads up to `ahead` jobs ahead of the reader.

    Exceptions of `make` are raised here, in order. When the reader stops early, so do the threads.
    """
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="made-ahead") as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(make, job))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
