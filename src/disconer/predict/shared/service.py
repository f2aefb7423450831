"""The process that has the network, `python -m disconer.predict.shared.service`: it exits with its parent."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from disconer.nn.arrays import WordArrays
from disconer.predict.local.messages import Send, run_as_child
from disconer.predict.shared.messages import Greeting, NetworkTask, unpack
from disconer.store.names import find_model

if TYPE_CHECKING:
    from disconer.nn.network import TorchRuntime

LAUNCHED = 2  # batches on the device while the answer to the one before them is fetched


class Service:
    """Runs the batches of all clients on one network, one after another.

    Each client has a thread that receives its batches; the network has one, this.
    """

    def __init__(self, runtime: TorchRuntime, listener: Listener) -> None:
        self._runtime = runtime
        self._batches: SimpleQueue[tuple[Any, WordArrays]] = SimpleQueue()
        Thread(target=self._accept, args=(listener,), daemon=True).start()

    def run(self) -> None:
        launched: deque[tuple[Any, Any]] = deque()
        while True:
            try:
                client, batch = self._batches.get(block=not launched)
                launched.append((client, self._runtime.launch(batch)))
                is_idle = False
            except Empty:
                is_idle = True
            if is_idle or len(launched) > LAUNCHED:
                client, work = launched.popleft()
                with suppress(OSError):  # a client that is gone is its parent's concern
                    client.send(self._runtime.fetch(work))

    def _accept(self, listener: Listener) -> None:
        of = self._runtime
        greeting = Greeting(of.device, of.batch_subwords, of.batch_cells, of.batch_overhead, of.size_multiple)
        while True:
            with suppress(OSError, EOFError, AuthenticationError):  # others can still connect
                client = listener.accept()
                client.send(greeting)
                Thread(target=self._receive, args=(client,), daemon=True).start()

    def _receive(self, client: Any) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._batches.put((client, unpack(client.recv_bytes())))


def serve(task: NetworkTask) -> None:
    """Load the network and run it for clients, for ever."""
    with task.address.listener(task.n_clients) as listener:  # clients may connect, and wait, while it is loaded
        from disconer.store.checkpoint import load_model  # after that: it imports torch

        settings = task.settings
        runtime = load_model(find_model(settings.model)).runtime(settings.device, settings.precision)
        Service(runtime if settings.threshold is None else runtime.near(), listener).run()


def _serve(task: str, send: Send) -> None:
    serve(NetworkTask.from_json(task))


if __name__ == "__main__":
    run_as_child(_serve)
