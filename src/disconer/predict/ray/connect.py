"""A Ray to predict on, for how many actors it has room, and what its errors mean."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import ray
from ray.exceptions import ObjectStoreFullError, OutOfMemoryError, RayActorError, RayError

from disconer.core.errors import DisconerError
from disconer.predict.ray.cluster import HOST_AND_PORT, first_line, join, resolve, start
from disconer.predict.ray.option import HERE
from disconer.text.syntax.processes import n_cores

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
