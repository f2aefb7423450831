"""Dynamic batching: one thread owns a model, and a queue collects texts of many requests into batches."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from disconer.core.types import Document
from disconer.serve.settings import Limits


class Annotate(Protocol):
    """What finds the entities of documents; see `Recognizer.annotate`."""

    def __call__(self, documents: list[Document], *, threshold: float | None = None) -> Iterable[Document]: ...


Watcher = Callable[[int, int, float], None]  # called for each batch: texts, characters, seconds

FASTEST_RETRY, SLOWEST_RETRY = 1, 60  # bounds of Retry-After, in seconds
LINGER = 0.05  # fraction of a batch's time to wait after it, so that answered clients can join the next
RATE_MEMORY = 0.9  # weight of the old average when the speed is updated

log = logging.getLogger("disconer.serve")


class Busy(Exception):
    """The queue is full. `retry_after`: seconds until there should be room."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__()


class Closed(Exception):
    """The queue is closed."""


class Failed(Exception):
    """The model failed on a text. `out_of_memory`: because there was not enough memory for it."""

    def __init__(self, *, out_of_memory: bool = False) -> None:
        self.out_of_memory = out_of_memory
        super().__init__()


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A document in the queue, and the future of its result."""

    document: Document
    near: bool
    arrived: float
    annotated: asyncio.Future[Document]

    def __len__(self) -> int:
        return len(self.document.text)


class Batcher:
    """Takes documents on the event loop, runs the model on a thread, and resolves each document's future.

    annotate: the model's prediction function; called only on the thread.
    """

    def __init__(
        self, annotate: Annotate, limits: Limits, *, watch: Watcher = lambda texts, characters, seconds: None
    ) -> None:
        self._annotate, self._limits, self._watch = annotate, limits, watch
        self._linger_until = 0.0
        self._queue: deque[Waiting] = deque()
        self._characters = 0  # in the queue
        self._speed = 0.0  # characters per second, moving average
        self._closed = False
        self._changed = threading.Condition()  # guards the above
        self._thread = threading.Thread(target=self._work, name="disconer-model", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start the thread, for the calling event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def close(self) -> None:
        """Accept nothing more, and return when all accepted documents are done."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.join)

    @property
    def is_working(self) -> bool:
        return self._thread.is_alive() and not self._closed

    @property
    def n_waiting(self) -> int:
        return len(self._queue)

    async def __call__(self, documents: Sequence[Document], *, near: bool = False) -> list[Document]:
        """These documents with the model's entities, in order; raises `Busy`, `Closed` or `Failed`.

        near: with near misses, of any score; see `Recognizer`, threshold.

        If cancelled, or if one fails, removes those still waiting from the queue.
        """
        loop, now = asyncio.get_running_loop(), time.monotonic()
        items = [Waiting(document, near, now, loop.create_future()) for document in documents]
        self._enter(items)
        try:
            return await asyncio.gather(*[item.annotated for item in items])
        except BaseException:
            self._leave(items)
            raise

    def _enter(self, items: list[Waiting]) -> None:
        n_characters = sum(map(len, items))
        with self._changed:
            if not self.is_working:
                raise Closed
            full = len(self._queue) + len(items) > self._limits.queue_texts
            long = self._characters + n_characters > self._limits.queue_characters
            if self._queue and (full or long):  # an empty queue accepts any request
                raise Busy(self._retry_after(n_characters))
            self._queue += items
            self._characters += n_characters
            self._changed.notify()

    def _leave(self, items: list[Waiting]) -> None:
        own = set(items)
        with self._changed:
            self._queue = deque(item for item in self._queue if item not in own)
            self._characters = sum(map(len, self._queue))
            self._changed.notify()

    def _retry_after(self, n_characters: int) -> int:
        """Seconds until there should be room for this many characters."""
        if not self._speed:
            return FASTEST_RETRY
        seconds = math.ceil((self._characters + n_characters) / 2 / self._speed)
        return min(max(seconds, FASTEST_RETRY), SLOWEST_RETRY)

    # Below: code that runs on the thread.

    def _work(self) -> None:
        assert self._loop is not None
        while batch := self._next_batch():
            start = time.monotonic()
            outcomes = self._outcomes(batch)
            seconds = time.monotonic() - start
            n_characters = sum(map(len, batch))
            self._measure(n_characters, seconds)
            self._watch(len(batch), n_characters, seconds)  # first, so that every answered request is counted
            try:
                self._loop.call_soon_threadsafe(_deliver, batch, outcomes)
            except RuntimeError:  # the loop was stopped: no one is waiting any more
                return
            self._linger_until = time.monotonic() + LINGER * seconds

    def _next_batch(self) -> list[Waiting]:
        """The next batch; empty only when closed."""
        with self._changed:
            while True:
                while not self._queue and not self._closed:
                    self._changed.wait()
                self._wait_for_company()
                batch = self._take()
                if batch or self._closed:
                    return batch

    def _wait_for_company(self) -> None:
        while self._queue and len(self._queue) < self._limits.batch_texts and not self._closed:
            until = max(self._queue[0].arrived + self._limits.batch_seconds, self._linger_until)
            left = until - time.monotonic()
            if left <= 0:
                break
            self._changed.wait(left)

    def _take(self) -> list[Waiting]:
        """The first texts of the queue, without cancelled ones."""
        batch: list[Waiting] = []
        room = self._limits.batch_characters
        while self._queue and len(batch) < self._limits.batch_texts:
            n_characters = len(self._queue[0])
            if batch and n_characters > room:
                break
            item = self._queue.popleft()
            self._characters -= n_characters
            if not item.annotated.cancelled():
                batch.append(item)
                room -= n_characters
        return batch

    def _outcomes(self, batch: list[Waiting]) -> list[Document | Failed]:
        outcomes: dict[Waiting, Document | Failed] = {}
        for near in (False, True):
            items = [item for item in batch if item.near == near]
            if items:
                outcomes |= zip(items, self._annotated([item.document for item in items], near), strict=True)
        return [outcomes[item] for item in batch]

    def _annotated(self, documents: list[Document], near: bool) -> list[Document | Failed]:
        try:
            return list(self._annotate(documents, threshold=0.0 if near else None))
        except Exception as error:
            if len(documents) == 1:
                log_fault("the model failed on a text", error)
                return [Failed(out_of_memory=_is_out_of_memory(error))]
        # One text failed the whole batch: retry the others one by one.
        return [outcome for document in documents for outcome in self._annotated([document], near)]

    def _measure(self, n_characters: int, seconds: float) -> None:
        speed = n_characters / max(seconds, 1e-9)
        self._speed = RATE_MEMORY * self._speed + (1 - RATE_MEMORY) * speed if self._speed else speed


def _is_out_of_memory(error: Exception) -> bool:
    """Whether the machine or a GPU ran out of memory; torch has no exception of its own for the former."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and "allocate memory" in str(error))
    )


def _deliver(batch: list[Waiting], outcomes: list[Document | Failed]) -> None:
    for item, outcome in zip(batch, outcomes, strict=True):
        if item.annotated.done():  # cancelled meanwhile
            continue
        if isinstance(outcome, Failed):
            item.annotated.set_exception(outcome)
        else:
            item.annotated.set_result(outcome)


def log_fault(what: str, error: BaseException) -> None:
    """Log the type and location of an error, never its message, which may quote a user's text."""
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error("%s: %s at %s", what, type(error).__name__, " < ".join(reversed(places)))
