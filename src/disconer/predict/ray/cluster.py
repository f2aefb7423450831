"""Connecting to Ray: a local one or a running cluster, its capacity for actors, and its errors.

It imports Ray, so it is imported only for `--ray`.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import ObjectStoreFullError, OutOfMemoryError, RayActorError, RayError

from disconer.core.cores import usable_cores
from disconer.core.errors import DisconerError, first_line
from disconer.predict.ray.plan import HERE

ADDRESS_VARIABLE = "RAY_ADDRESS"
# Ray sends its token to an explicit address only if configured to; that is the user's choice.
TOKEN_SETTING = "RAY_AUTH_MODE=token"
TOKEN_VARIABLE = "RAY_AUTH_TOKEN"
HOST_AND_PORT = re.compile(r"[^\s/]+:\d+")
STARTS = 2  # attempts to start: Ray waits half a minute for its processes, which may not suffice on a busy machine
KNOCK_SECONDS = 10

# A local Ray sends no usage statistics, and its processes keep their priority.
_OWN_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


def _can_keep_token() -> bool:
    """Whether Ray has a token, or can write one to the user's home; in a container there may be none."""
    if TOKEN_VARIABLE in os.environ or f"{TOKEN_VARIABLE}_PATH" in os.environ:
        return True
    try:
        folder = Path.home() / ".ray"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return False
    return os.access(folder, os.W_OK)


def resolve(address: str) -> str:
    """Falls back to $RAY_ADDRESS."""
    return os.environ.get(ADDRESS_VARIABLE, address) if address == HERE else address


def start(*, n_cpus: int, **options: Any) -> None:
    """Start a Ray on this machine that ends with this process.

    options: further options of `ray.init`.
    """
    for name, value in _OWN_RAY.items():
        os.environ.setdefault(name, value)
    if not _can_keep_token():
        os.environ[TOKEN_VARIABLE] = secrets.token_hex(32)
    for tries_left in reversed(range(STARTS)):
        try:
            with _quiet_stderr():
                ray.init(HERE, num_cpus=n_cpus, **options, **_QUIET)
            return
        except Exception as error:  # Ray has no class of its own for it
            ray.shutdown()
            if not tries_left:
                raise DisconerError(
                    "Ray could not be started on this machine",
                    got=first_line(error),
                    fix="Try again when the machine is less busy; Ray's logs are under /tmp/ray.",
                ) from error


def join(address: str) -> None:
    """Connect to a running Ray."""
    try:
        if HOST_AND_PORT.fullmatch(address):
            knock(address)  # Ray itself would try for minutes
        with _quiet_stderr():
            ray.init(address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        raise DisconerError(
            f"There is no Ray at {address}",
            got=first_line(error),
            fix="`ray status` shows if it runs. If it requires a token, set RAY_AUTH_TOKEN_PATH to its file and "
            f"{TOKEN_SETTING}. --ray without an address starts a Ray on this machine.",
        ) from error


def knock(address: str, seconds: float = KNOCK_SECONDS) -> None:
    """Raises OSError if there is no server at `host:port`."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Silences Ray's startup messages; errors are raised as exceptions."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


FREE_CPUS = 1  # with actors on every processor of Ray's count, Ray Data has none left for its own tasks, and hangs
STORE_BYTES = 512 * 2**20  # for blocks in transit; more would only be filled with waiting blocks
AUTO = "auto"  # the Ray that runs on this machine


@contextmanager
def joined(address: str, actors: int | None, gpus_per_actor: float) -> Iterator[int]:
    """Connect to Ray within the block; yields the number of actors. An existing connection is reused."""
    started = not ray.is_initialized()
    with _quiet_logs():  # also as Ray ends: threads of Ray Data may find it gone, and say so
        try:
            if started:
                _init(resolve(address), actors)
            yield _room(actors, gpus_per_actor)
        finally:
            if started:
                ray.shutdown()


def _init(address: str, actors: int | None) -> None:
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what is wrong, errors say
    if address == HERE:
        # Ray counts processors, it does not pin them: so one more than there are leaves one free.
        n_cpus = (actors or usable_cores()) + FREE_CPUS
        start(n_cpus=n_cpus, include_dashboard=False, object_store_memory=STORE_BYTES)
    else:
        join(_checked(address))


def _checked(address: str) -> str:
    if address.startswith("ray://"):
        raise DisconerError(
            "Ray's client cannot stream data",
            got=address,
            expected="the address of the cluster itself, from one of its machines",
            fix="Run it there with --ray auto, or send it there: ray job submit -- disconer predict … --ray auto",
        )
    if address != AUTO and not HOST_AND_PORT.fullmatch(address):
        raise DisconerError(
            "This is not the address of a Ray cluster",
            got=repr(address),
            expected="auto, or HOST:PORT such as 10.0.0.1:6379",
            fix="To start a local Ray, put --ray before another option or at the end.",
        )
    return address


def _room(asked: int | None, gpus_per_actor: float) -> int:
    """The requested number of actors, or as many as fit with one CPU left free."""
    resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
    n_cpus, n_gpus = int(resources.get("CPU", 0)), resources.get("GPU", 0.0)
    most = n_cpus - FREE_CPUS
    counted = f"{n_cpus} CPUs, of which one must stay free"
    if gpus_per_actor:
        most = min(most, int(n_gpus / gpus_per_actor))
        counted += f", and {n_gpus:g} GPUs"
    if (asked or 1) > most:
        raise DisconerError(
            f"Ray has no room for {asked or 'even one'} actor{'s' if asked and asked > 1 else ''}",
            got=counted,
            expected=f"at most {most} actors" if most > 0 else None,
            fix="Ask for fewer --actors or --gpus-per-actor, or add machines to the cluster.",
        )
    return asked or most


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Silences Ray's messages to developers, some of them on stdout."""
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            warnings.filterwarnings("ignore", module=r"ray\.")
            yield
    finally:
        logger.setLevel(level)


@contextmanager
def translated() -> Iterator[None]:
    """Translate Ray's errors."""
    try:
        yield
    except RayActorError as error:
        raise DisconerError(
            "Actors died repeatedly",
            got=first_line(error),
            fix="The usual cause is memory: try fewer --actors. Finished parts are kept: run the same command again.",
        ) from error
    except (OutOfMemoryError, ObjectStoreFullError) as error:
        raise DisconerError(
            "Ray has run out of memory",
            got=first_line(error),
            fix="Try fewer --actors or more memory. Finished parts are kept: run the same command again.",
        ) from error
    except RayError as error:
        raise DisconerError(
            "Ray failed",
            got=first_line(error),
            fix="Add --debug before `predict` for details. Finished parts are kept: run the same command again.",
        ) from error
