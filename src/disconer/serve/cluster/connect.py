"""A Ray to serve on: one that runs already, or one of our own; and the proxies that take connections there."""

from __future__ import annotations

import logging
import os
import socket

import ray
from ray import serve
from ray.serve.context import _get_global_client

from disconer.cli.ray_option import HERE
from disconer.errors import DisconerError
from disconer.serve.cluster import gate
from disconer.serve.cluster.plan import Plan
from disconer.serve.limits import Limits
from disconer.serve.server import bound_socket

ADDRESS_VARIABLE = "RAY_ADDRESS"
# Ray sends its token to no address that was named, unless it is told to; whether to do so is for the user to say.
TOKEN_SETTING = "RAY_AUTH_MODE=token"
SPARE_REPLICAS = 1  # that a Ray of our own has room for: a new replica starts before an old one ends
LATE_SECONDS = 5  # that a proxy waits longer for an answer than the service, which has something to say then
PATIENCE = 60  # seconds for a proxy to start on a busy machine

# A Ray of our own calls nobody, and its processes are as important as any other.
OWN_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
logging.getLogger("ray.serve").setLevel(logging.ERROR)  # what it would say of itself, we say

PROXIES = gate.VARIABLE | {"RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(PATIENCE)}


def resolve(address: str) -> str:
    """Who names no address may have named it for all programs."""
    return os.environ.get(ADDRESS_VARIABLE, address) if address == HERE else address


def start(plan: Plan) -> str:
    """Start a Ray on this machine that ends with this process. Returns its address."""
    for name, value in OWN_RAY.items():
        os.environ.setdefault(name, value)
    n_cpus = max((plan.replicas.most + SPARE_REPLICAS) * plan.threads, os.cpu_count() or 1)
    ray.init(address=HERE, num_cpus=n_cpus, log_to_driver=False, logging_level=logging.ERROR)
    return str(ray.get_runtime_context().gcs_address)


def join(address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise DisconerError(
            f"There is no Ray to join at {address}",
            got=str(error).splitlines()[0],
            fix=f"If it runs and asks for a token, set {TOKEN_SETTING}. --ray without an address starts one here.",
        ) from error


def is_there(address: str) -> bool:
    """Whether somebody listens at `host:port`."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError:
        return False
    return True


def free_port(host: str, port: int) -> int:
    """The port, if nobody listens there; for 0, any such."""
    with bound_socket(host, port) as bound:
        return int(bound.getsockname()[1])


def start_proxies(host: str, port: int, limits: Limits) -> str:
    """Have Ray take connections, unless it does. Returns where."""
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
    taken = client.http_config  # what Ray has from an earlier start it keeps
    shown = f"[{taken.host}]" if ":" in taken.host else taken.host
    return f"http://{shown}:{taken.port}"
