"""Messages between the process that has the network and those that use it: address, task, greeting, batches. No torch
here, and no NumPy before there is a batch.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import secrets
import shutil
import tempfile
from dataclasses import asdict, dataclass, fields
from multiprocessing import connection
from time import sleep
from typing import TYPE_CHECKING, Any

from disconer.predict.settings import Settings

if TYPE_CHECKING:
    from disconer.nn.arrays import WordArrays

PAUSE = 0.02  # seconds between two attempts to reach a process that is starting
LONGEST = 100  # bytes of a socket's path, which every system accepts


@dataclass(frozen=True, slots=True)
class Address:
    """Where the process with the network listens, and the key that it asks for, since its messages are pickles."""

    path: str
    key: str

    @classmethod
    def new(cls) -> Address:
        return cls(_new_path(), secrets.token_hex(32))

    def listener(self, backlog: int) -> connection.Listener:
        return connection.Listener(self.path, backlog=backlog, authkey=self.key.encode())

    def connect(self) -> Any:
        """A connection, as soon as there is a listener. If there never is one, or it ends while it greets,
        the parent of both ends this process.
        """
        while True:
            try:
                return connection.Client(self.path, authkey=self.key.encode())
            except (FileNotFoundError, ConnectionError, EOFError):
                sleep(PAUSE)


def _new_path() -> str:
    """An address that no server has yet: on Unix, in a folder of this user alone that is removed at exit."""
    path: str = connection.arbitrary_address(connection.default_family)  # type: ignore[attr-defined]
    if os.name != "posix" or len(os.fsencode(path)) <= LONGEST:
        return path
    folder = tempfile.mkdtemp(prefix="disconer-", dir="/tmp")  # $TMPDIR is too long
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return os.path.join(folder, "network")


@dataclass(frozen=True, slots=True)
class NetworkTask:
    """The task of the process that has the network.

    n_clients: the most that will connect.
    """

    address: Address
    settings: Settings
    n_clients: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> NetworkTask:
        given = json.loads(text)
        return cls(Address(**given["address"]), Settings(**given["settings"]), given["n_clients"])


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first message to a client: what its batches should be like. See `Runtime`."""

    device: str
    batch_subwords: int
    batch_cells: int
    batch_overhead: int
    size_multiple: int


def pack(batch: WordArrays) -> bytes:
    """A batch in half its size: no number in it needs 64 bits."""
    arrays = [getattr(batch, field.name) for field in fields(batch)]
    small = [array if array.dtype == "bool" else array.astype("int32") for array in arrays]
    return pickle.dumps(small, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(message: bytes) -> WordArrays:
    from disconer.nn.arrays import WordArrays  # when it is needed: `disconer --help` does not

    return WordArrays(*pickle.loads(message))
