"""A local Ray to serve on, and the proxies that accept connections on it or on another Ray."""

from __future__ import annotations

import logging
import os

import ray
from ray import serve
from ray.serve.context import _get_global_client

from disconer.predict.ray.cluster import knock, start
from disconer.serve.limits import Limits
from disconer.serve.ray import gate
from disconer.serve.ray.plan import Plan
from disconer.serve.server import bound_socket

SPARE_REPLICAS = 1  # room in a local Ray: a new replica starts before an old one stops
LATE_SECONDS = 5  # that a proxy waits longer than the service's own timeout, which has a better message
PATIENCE = 60  # seconds for a proxy to start on a busy machine

logging.getLogger("ray.serve").setLevel(logging.ERROR)  # we print our own messages

PROXIES = gate.VARIABLE | {"RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(PATIENCE)}


def start_with_room(plan: Plan) -> str:
    """Start a local Ray with room for all replicas of a plan. Returns its address."""
    start(n_cpus=max((plan.replicas.most + SPARE_REPLICAS) * plan.threads, os.cpu_count() or 1))
    return str(ray.get_runtime_context().gcs_address)


def is_there(address: str) -> bool:
    """Whether there is a server at `host:port`."""
    try:
        knock(address, PATIENCE)
    except OSError:
        return False
    return True


def free_port(host: str, port: int) -> int:
    """The port, if it is free; for 0, any free port."""
    with bound_socket(host, port) as bound:
        return int(bound.getsockname()[1])


def start_proxies(host: str, port: int, limits: Limits) -> str:
    """Make Ray accept connections, unless it already does. Returns the URL."""
    serve.start(
        proxy_location="EveryNode",
        http_options={
            "host": host,
            "port": port,
            "request_timeout_s": limits.answer_seconds + LATE_SECONDS,
            "keep_alive_timeout_s": int(limits.idle_seconds),
        },
        controller_options={"runtime_env": {"env_vars": PROXIES}},
        logging_config={"enable_access_log": False},
    )
    client = _get_global_client()
    assert client is not None
    taken = client.http_config  # Ray keeps the options of an earlier start
    shown = f"[{taken.host}]" if ":" in taken.host else taken.host
    return f"http://{shown}:{taken.port}"
