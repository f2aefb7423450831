"""What goes between the process that has the network and those that use it. No torch here."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shutil
import tempfile
from dataclasses import asdict, dataclass
from multiprocessing import connection
from time import sleep
from typing import Any

from disconer.predict.settings import Settings

PAUSE = 0.02  # seconds between two attempts to reach a process that is starting
LONGEST = 100  # bytes of the path of a socket, which no system has room for more of


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
    """Where nobody listens yet: on Unix, in a folder of this user alone that is removed at exit."""
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
        fields = json.loads(text)
        return cls(Address(**fields["address"]), Settings(**fields["settings"]), fields["n_clients"])


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first message to a client: what its batches should be like. See `Runtime`."""

    device: str
    batch_subwords: int
    batch_cells: int
    batch_overhead: int
    size_multiple: int
