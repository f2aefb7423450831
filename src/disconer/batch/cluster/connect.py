"""A Ray to predict on: one of our own on this machine, or one that runs already; for how many actors it has room."""

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

from disconer.cli.ray_option import HERE
from disconer.errors import DisconerError
from disconer.text.syntax.processes import n_cores

ADDRESS_VARIABLE = "RAY_ADDRESS"
FREE_CPUS = 1  # with actors on every processor of Ray's count, Ray Data has none left for its own tasks, and hangs
STARTS = 2  # tries to start one: Ray waits half a minute for its processes, which may not do on a busy machine
KNOCK_SECONDS = 10
STORE_BYTES = 512 * 2**20  # for blocks on their way; more would only be filled with blocks that wait

# A Ray of our own calls nobody, its processes are as important as any other, and it says in errors what is wrong.
_OWN_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
_ADDRESS = re.compile(r"auto|[^\s/]+:\d+")
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


@contextmanager
def joined(address: str, actors: int | None, gpus_per_actor: float) -> Iterator[int]:
    """Join Ray while the block lasts; how many actors to start. A Ray that this process has joined already is taken."""
    started = not ray.is_initialized()
    try:
        if started:
            _init(os.environ.get(ADDRESS_VARIABLE, address) if address == HERE else address, actors)
        with _quiet_logs():
            yield _room(actors, gpus_per_actor)
    finally:
        if started:
            ray.shutdown()


def _init(address: str, actors: int | None) -> None:
    for name, value in _OWN_RAY.items():
        os.environ.setdefault(name, value)
    if address == HERE:
        # Ray counts processors, it does not pin them: so one more than there are leaves one free.
        _start(n_cpus=(actors or n_cores()) + FREE_CPUS)
        return
    try:
        _knock(_checked(address))
        with _quiet_stderr():
            ray.init(address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        raise DisconerError(
            f"There is no Ray to join at {address}",
            got=_first_line(error),
            fix="`ray status` says whether it runs. If it wants a token, name its file in RAY_AUTH_TOKEN_PATH, and set "
            "RAY_AUTH_MODE=token. --ray without an address starts a Ray on this machine.",
        ) from error


def _start(n_cpus: int) -> None:
    for tries_left in reversed(range(STARTS)):
        try:
            with _quiet_stderr():
                ray.init(HERE, num_cpus=n_cpus, include_dashboard=False, object_store_memory=STORE_BYTES, **_QUIET)
            return
        except Exception as error:  # Ray has no class of its own for it
            ray.shutdown()
            if not tries_left:
                raise DisconerError(
                    "Ray does not start on this machine",
                    got=_first_line(error),
                    fix="Try again when the machine is less busy; what its processes say is under /tmp/ray.",
                ) from error


def _checked(address: str) -> str:
    if address.startswith("ray://"):
        raise DisconerError(
            "Ray's client cannot stream data",
            got=address,
            expected="the address of the cluster itself, from one of its machines",
            fix="Run it there with --ray auto, or send it there: ray job submit -- disconer predict … --ray auto",
        )
    if not _ADDRESS.fullmatch(address):
        raise DisconerError(
            "This is not the address of a Ray cluster",
            got=repr(address),
            expected="auto, or HOST:PORT such as 10.0.0.1:6379",
            fix="To start a Ray of its own, let another option follow --ray, or put it at the end.",
        )
    return address


def _knock(address: str) -> None:
    """Whether anybody listens there: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_SECONDS).close()


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
            got=_first_line(error),
            fix="Most often memory has run out: try fewer --actors. What is finished stays so: run the same again.",
        ) from error
    except (OutOfMemoryError, ObjectStoreFullError) as error:
        raise DisconerError(
            "Ray has run out of memory",
            got=_first_line(error),
            fix="Try fewer --actors, or machines with more memory. What is finished stays so: run the same again.",
        ) from error
    except RayError as error:
        raise DisconerError(
            "Ray has given up",
            got=_first_line(error),
            fix="--debug before `predict` shows all of it. What is finished stays so: run the same again.",
        ) from error


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"
