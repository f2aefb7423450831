"""One thread that owns a model, and the queue before it: texts of many requests go through the model together."""

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

from disconer.core.types import Document
from disconer.serve.limits import Limits

Annotate = Callable[[list[Document]], Iterable[Document]]
Watcher = Callable[[int, int, float], None]  # is told of each batch: texts, characters, seconds

FASTEST_RETRY, SLOWEST_RETRY = 1, 60  # seconds that a refused client may be told to wait
LINGER = 0.05  # share of a batch's time after it in which those that it answered may ask again, to go with the others
RATE_MEMORY = 0.9  # how much of the measured speed is kept when a batch is added to it

log = logging.getLogger("disconer.serve")


class Busy(Exception):
    """The queue has no room for a request. `retry_after`: seconds after which it should have."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__()


class Closed(Exception):
    """The queue takes nothing more."""


class Failed(Exception):
    """The model stumbled over a text."""


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A document in the queue, and where it is awaited with its entities."""

    document: Document
    arrived: float
    annotated: asyncio.Future[Document]

    def __len__(self) -> int:
        return len(self.document.text)


class Batcher:
    """Takes documents on the event loop, gives them to the model on a thread, and brings each back to its own.

    annotate: what the model does with documents; only ever called on the thread.
    """

    def __init__(
        self, annotate: Annotate, limits: Limits, *, watch: Watcher = lambda texts, characters, seconds: None
    ) -> None:
        self._annotate, self._limits, self._watch = annotate, limits, watch
        self._linger_until = 0.0
        self._queue: deque[Waiting] = deque()
        self._characters = 0  # in the queue
        self._speed = 0.0  # characters a second, as lately measured
        self._closed = False
        self._changed = threading.Condition()  # guards the above
        self._thread = threading.Thread(target=self._work, name="disconer-model", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to work, for the event loop that calls this."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def close(self) -> None:
        """Take nothing more, and return when all that was taken is done."""
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

    async def __call__(self, documents: Sequence[Document]) -> list[Document]:
        """These documents with the model's entities, in their order; `Busy`, `Closed` or `Failed` if that cannot be.

        Cancelled, it takes those that still wait out of the queue.
        """
        loop, now = asyncio.get_running_loop(), time.monotonic()
        items = [Waiting(document, now, loop.create_future()) for document in documents]
        self._enter(items)
        return await asyncio.gather(*[item.annotated for item in items])

    def _enter(self, items: list[Waiting]) -> None:
        n_characters = sum(map(len, items))
        with self._changed:
            if not self.is_working:
                raise Closed
            full = len(self._queue) + len(items) > self._limits.queue_texts
            long = self._characters + n_characters > self._limits.queue_characters
            if self._queue and (full or long):  # any request fits into an empty queue
                raise Busy(self._retry_after(n_characters))
            self._queue += items
            self._characters += n_characters
            self._changed.notify()

    def _retry_after(self, n_characters: int) -> int:
        """Seconds until there should be room for so many characters."""
        if not self._speed:
            return FASTEST_RETRY
        seconds = math.ceil((self._characters + n_characters) / 2 / self._speed)
        return min(max(seconds, FASTEST_RETRY), SLOWEST_RETRY)

    # From here on: the thread.

    def _work(self) -> None:
        assert self._loop is not None
        while batch := self._next_batch():
            start = time.monotonic()
            outcomes = self._outcomes([item.document for item in batch])
            seconds = time.monotonic() - start
            try:
                self._loop.call_soon_threadsafe(_deliver, batch, outcomes)
            except RuntimeError:  # the loop was ended in a hurry: nobody waits any more
                return
            self._linger_until = time.monotonic() + LINGER * seconds
            n_characters = sum(map(len, batch))
            self._measure(n_characters, seconds)
            self._watch(len(batch), n_characters, seconds)

    def _next_batch(self) -> list[Waiting]:
        """What waits, up to a batch; empty only when closed."""
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
        """The first texts of the queue, without those that nobody awaits any more."""
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

    def _outcomes(self, documents: list[Document]) -> list[Document | Failed]:
        try:
            return list(self._annotate(documents))
        except Exception as error:
            if len(documents) == 1:
                log_fault("the model failed on a text", error)
                return [Failed()]
        # One text spoiled it for all: the others get their answers one by one.
        return [outcome for document in documents for outcome in self._outcomes([document])]

    def _measure(self, n_characters: int, seconds: float) -> None:
        speed = n_characters / max(seconds, 1e-9)
        self._speed = RATE_MEMORY * self._speed + (1 - RATE_MEMORY) * speed if self._speed else speed


def _deliver(batch: list[Waiting], outcomes: list[Document | Failed]) -> None:
    for item, outcome in zip(batch, outcomes, strict=True):
        if item.annotated.done():  # cancelled meanwhile
            continue
        if isinstance(outcome, Failed):
            item.annotated.set_exception(outcome)
        else:
            item.annotated.set_result(outcome)


def log_fault(what: str, error: BaseException) -> None:
    """Log the type and place of an error, never its message: that may quote somebody's text."""
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error("%s: %s at %s", what, type(error).__name__, " < ".join(reversed(places)))
