"""A network in another process: batches are sent there, and its output is decoded here. No torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import Any

from disconer.config import Config
from disconer.core.errors import DisconerError
from disconer.nn.arrays import WordArrays
from disconer.nn.heads.kind import kind_of
from disconer.nn.reader import Reader
from disconer.nn.runtime import Device, Precision, RuntimeName
from disconer.nn.scores import ScoreScale
from disconer.nn.windows import Found
from disconer.predict.onnx.model import OnnxModel, load_stored_model
from disconer.predict.shared.messages import Address, Greeting, pack
from disconer.store.graphs import StoredGraphs, read_graphs

AHEAD = 2  # batches already sent while the next is prepared
GRACE = 10.0  # seconds for the parent of both processes to learn why the other one is gone, and to end this one


class SharedRuntime:
    """Sends batches to the process that has the network. See `Runtime`.

    near: whether what that process fetches includes near misses.
    """

    name: RuntimeName = "torch"

    def __init__(self, address: Address, config: Config, labels: tuple[str, ...], *, near: bool) -> None:
        self._connection = address.connect()
        self._read = kind_of(config.head).fetched_reader(config.head, labels, near=near)
        self._answers: SimpleQueue[Any] = SimpleQueue()
        # Answers are taken at once, whatever happens here: neither side may wait for the other to listen.
        Thread(target=self._listen, daemon=True).start()
        greeting: Greeting = self._answer()
        self.device = greeting.device
        self.batch_subwords, self.batch_cells = greeting.batch_subwords, greeting.batch_cells
        self.batch_overhead, self.size_multiple = greeting.batch_overhead, greeting.size_multiple

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`."""
        n_waiting = 0
        try:
            for batch in batches:
                self._send(batch)
                n_waiting += 1
                if n_waiting > AHEAD:
                    n_waiting -= 1
                    yield self._found()
            while n_waiting:
                n_waiting -= 1
                yield self._found()
        finally:  # if the caller stops early, answers are left that the next batches must not get
            while n_waiting and self._next() is not None:
                n_waiting -= 1

    def near(self) -> SharedRuntime:
        """See `Runtime`. The process that has the network decides: a prediction has one threshold from start to end."""
        return self

    def _send(self, batch: WordArrays) -> None:
        try:
            self._connection.send_bytes(pack(batch))
        except OSError as error:
            raise _is_gone() from error

    def _found(self) -> list[list[Found]]:
        fetched = self._answer()
        found: list[list[Found]] = self._read(fetched) if self._read else fetched
        return found

    def _answer(self) -> Any:
        answer = self._next()
        if answer is None:
            raise _is_gone()
        return answer

    def _next(self) -> Any:
        """The next answer; from the end on, always None."""
        answer = self._answers.get()
        if answer is None:
            self._answers.put(None)
        return answer

    def _listen(self) -> None:
        try:
            while True:
                self._answers.put(self._connection.recv())
        except (EOFError, OSError):
            self._answers.put(None)


def _is_gone() -> DisconerError:
    sleep(GRACE)
    return DisconerError("The process that runs the network has exited", fix="Run the same command again.")


@dataclass(frozen=True, slots=True)
class SharedModel:
    """A model whose network another process has. See `AnyModel`.

    files: the rest of it, which ONNX Runtime would use as well. near: whether it gives near misses.
    """

    files: OnnxModel
    address: Address
    near: bool

    @property
    def config(self) -> Config:
        return self.files.config

    @property
    def labels(self) -> tuple[str, ...]:
        return self.files.labels

    @property
    def reader(self) -> Reader:
        return self.files.reader

    @property
    def max_subwords(self) -> int | None:
        return self.files.max_subwords

    @property
    def scale(self) -> ScoreScale:
        return self.files.scale

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> SharedRuntime:
        return SharedRuntime(self.address, self.config, self.labels, near=self.near)

    def save(self, folder: Path) -> None:
        self.files.save(folder)


def load_shared(folder: Path, address: Address, *, near: bool) -> SharedModel:
    """The model in a folder, whose network is at an address. See `loading.shares_network`."""
    stored = read_graphs(folder)
    assert isinstance(stored, StoredGraphs)
    return SharedModel(load_stored_model(folder, stored), address, near)
