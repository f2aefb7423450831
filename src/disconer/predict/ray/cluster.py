"""A Ray to work on: one of our own or one that runs already, its room for actors, and what its errors mean.

It imports Ray, so nothing imports it before `--ray` is asked for.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import ray
from ray.exceptions import ObjectStoreFullError, OutOfMemoryError, RayActorError, RayError

from disconer.core.errors import DisconerError
from disconer.predict.ray.plan import HERE
from disconer.text.syntax.processes import n_cores

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


FREE_CPUS = 1  # with actors on every processor of Ray's count, Ray Data has none left for its own tasks, and hangs
STORE_BYTES = 512 * 2**20  # for blocks on their way; more would only be filled with blocks that wait
AUTO = "auto"  # stands for the address of the Ray that runs on this machine


@contextmanager
def joined(address: str, actors: int | None, gpus_per_actor: float) -> Iterator[int]:
    """Join Ray while the block lasts; how many actors to start. A Ray that this process has joined already is taken."""
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
        n_cpus = (actors or n_cores()) + FREE_CPUS
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
            fix="To start a Ray of its own, let another option follow --ray, or put it at the end.",
        )
    return address


def _room(asked: int | None, gpus_per_actor: float) -> int:
    """As many actors as were asked for, or as there is room for with a processor left over."""
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
    """Without what Ray tells those who write programs with it, some of it on stdout."""
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
    """Say Ray's errors in our words."""
    try:
        yield
    except RayActorError as error:
        raise DisconerError(
            "Actors died again and again",
            got=first_line(error),
            fix="Most often memory has run out: try fewer --actors. What is finished stays so: run the same again.",
        ) from error
    except (OutOfMemoryError, ObjectStoreFullError) as error:
        raise DisconerError(
            "Ray has run out of memory",
            got=first_line(error),
            fix="Try fewer --actors, or machines with more memory. What is finished stays so: run the same again.",
        ) from error
    except RayError as error:
        raise DisconerError(
            "Ray has given up",
            got=first_line(error),
            fix="--debug before `predict` shows all of it. What is finished stays so: run the same again.",
        ) from error
