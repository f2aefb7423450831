"""A Ray to work on: one of our own on this machine, or one that runs already.

It imports Ray, so nothing imports it before `--ray` is asked for.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray

from disconer.core.errors import DisconerError
from disconer.predict.ray.option import HERE

ADDRESS_VARIABLE = "RAY_ADDRESS"
# Ray sends its token to no address that was named, unless it is told to; whether to do so is for the user to say.
TOKEN_SETTING = "RAY_AUTH_MODE=token"
HOST_AND_PORT = re.compile(r"[^\s/]+:\d+")
STARTS = 2  # tries to start one: Ray waits half a minute for its processes, which may not do on a busy machine
KNOCK_SECONDS = 10

# A Ray of our own calls nobody, and its processes are as important as any other.
_OWN_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


def resolve(address: str) -> str:
    """Who names no address may have named it for all programs."""
    return os.environ.get(ADDRESS_VARIABLE, address) if address == HERE else address


def start(*, n_cpus: int, **options: Any) -> None:
    """Start a Ray on this machine that ends with this process.

    options: what else `ray.init` is to know.
    """
    for name, value in _OWN_RAY.items():
        os.environ.setdefault(name, value)
    for tries_left in reversed(range(STARTS)):
        try:
            with _quiet_stderr():
                ray.init(HERE, num_cpus=n_cpus, **options, **_QUIET)
            return
        except Exception as error:  # Ray has no class of its own for it
            ray.shutdown()
            if not tries_left:
                raise DisconerError(
                    "Ray does not start on this machine",
                    got=first_line(error),
                    fix="Try again when the machine is less busy; what its processes say is under /tmp/ray.",
                ) from error


def join(address: str) -> None:
    """Join a Ray that runs already."""
    try:
        if HOST_AND_PORT.fullmatch(address):
            knock(address)  # Ray itself would try for minutes
        with _quiet_stderr():
            ray.init(address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        raise DisconerError(
            f"There is no Ray to join at {address}",
            got=first_line(error),
            fix="`ray status` says whether it runs. If it wants a token, name its file in RAY_AUTH_TOKEN_PATH, and set "
            f"{TOKEN_SETTING}. --ray without an address starts a Ray on this machine.",
        ) from error


def knock(address: str, seconds: float = KNOCK_SECONDS) -> None:
    """An OSError, unless somebody listens at `host:port`."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()


def first_line(error: Exception) -> str:
    """What an error of Ray says, short enough for a message of ours."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Without what Ray's own processes print as they start; what matters comes as an exception."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
