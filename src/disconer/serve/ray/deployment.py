"""Start, update and stop the service on Ray, with the proxies that accept its connections."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import ray
from ray import serve
from ray.serve.context import _get_global_client

from disconer.core.errors import DisconerError, first_line
from disconer.predict.local.messages import error_from_dict
from disconer.predict.ray.cluster import TOKEN_SETTING, join, knock, resolve, start
from disconer.predict.ray.plan import HERE
from disconer.serve.ray import gate
from disconer.serve.ray.replica import Replica, Settings, inspect_models
from disconer.serve.server import END_SECONDS, bound_socket
from disconer.serve.settings import AS_USUAL, Limits, Loading, RayPlan

SPARE_REPLICAS = 1  # room in a local Ray: a new replica starts before an old one stops
LATE_SECONDS = 5  # by which a proxy's timeout exceeds the service's own, which has a better message
PATIENCE = 60  # seconds for a proxy to start on a busy machine

logging.getLogger("ray.serve").setLevel(logging.ERROR)  # we print our own messages

PROXIES = gate.VARIABLE | {"RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(PATIENCE)}


def start_with_room(plan: RayPlan) -> str:
    """Start a local Ray with room for all replicas of a plan. Returns its address."""
    if " " in sys.executable:  # its shell does not quote the path
        raise DisconerError(
            "Ray Serve cannot start this Python: its path contains a space",
            got=sys.executable,
            fix="Install disconer into an environment without one, or serve without --ray.",
        )
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


APPLICATION = "disconer"
SURGE_PERCENT = 20  # additional replicas during a rolling update; at least one
HEALTH_SECONDS = 2  # between health checks of a replica
THREAD_VARIABLE = "OMP_NUM_THREADS"
LOOK_SECONDS = 0.5  # between checks whether Ray is still running
MAX_TRIES = 3  # to start a replica whose models are known to load


def serve_on_ray(
    models: dict[str, str],
    *,
    address: str,
    host: str,
    port: int,
    plan: RayPlan,
    limits: Limits,
    token: str | None = None,
    loading: Loading = AS_USUAL,
) -> None:
    """Serve models on Ray: on a local Ray until a signal stops it; on another, the service stays there.

    models: paths by name. A service that is already running there is updated without downtime.
    """
    address = resolve(address)
    if own := address == HERE:
        port = free_port(host, port)  # report a taken port before anything starts
        address = start_with_room(plan)
    else:
        join(address)
    try:
        url = deploy(
            models,
            host=host,
            port=port,
            plan=plan,
            limits=limits,
            token=token,
            loading=loading,
        )
        _say(f"serving {', '.join(models)} on {url}, {plan.replicas}")
        if own:
            _say(f"Ctrl-C to stop; to update: {TOKEN_SETTING} disconer serve --ray {address} …")
            wait_for_signal()
            end(address)
    finally:
        ray.shutdown()


def end_on_ray(address: str) -> None:
    """Stop the service on a Ray; other applications there keep running."""
    address = resolve(address)
    if address == HERE:
        raise DisconerError(
            "--replicas 0 stops a service on a running Ray",
            fix="Give its address: --ray ADDRESS. Ctrl-C stops a local one.",
        )
    join(address)
    try:
        if APPLICATION not in serve.status().applications:
            raise DisconerError(f"No disconer service is running on the Ray at {address}")
        serve.delete(APPLICATION)
        _say("ended")
    finally:
        ray.shutdown()


def deploy(
    models: dict[str, str],
    *,
    host: str,
    port: int,
    plan: RayPlan,
    limits: Limits,
    token: str | None = None,
    loading: Loading = AS_USUAL,
) -> str:
    """Deploy these models on the connected Ray, in place of the current ones. Returns the URL."""
    places = {name: _place(where) for name, where in models.items()}
    _say(f"loading {', '.join(models)} …")
    settings = Settings(
        models=places,
        identities=_identities(places, loading),
        limits=limits,
        token=token,
        loading=loading,
    )
    url = start_proxies(host, port, limits)
    if APPLICATION in serve.status().applications:
        _say("updating the running service …")
    try:
        serve.run(application(settings, plan), name=APPLICATION)
    except RuntimeError as error:  # Ray has logged why
        raise DisconerError(
            "Ray could not start the replicas of the service",
            got=first_line(error),
            fix="`serve status` says why. The old replicas keep running.",
        ) from error
    return url


def application(settings: Settings, plan: RayPlan) -> Any:
    """The service as a Ray Serve application."""
    replicas = plan.replicas
    scale: dict[str, Any] = {"num_replicas": replicas.least}
    if not replicas.is_fixed:
        bounds = {"min_replicas": replicas.least, "max_replicas": replicas.most}
        scale = {"autoscaling_config": bounds | {"target_ongoing_requests": max(1, settings.limits.batch_texts // 2)}}
    deployment = serve.deployment(
        name=APPLICATION,
        ray_actor_options={
            "num_cpus": plan.threads,
            "num_gpus": plan.gpus,
            "runtime_env": {"env_vars": {THREAD_VARIABLE: str(plan.threads)}},
        },
        # More than a replica's own queue holds: the replica rejects with a better Retry-After.
        max_ongoing_requests=settings.limits.queue_texts + 2 * settings.limits.batch_texts,
        max_queued_requests=settings.limits.queue_texts,
        backpressure_config={"status_code": 429},
        health_check_period_s=HEALTH_SECONDS,
        graceful_shutdown_timeout_s=END_SECONDS,
        graceful_shutdown_wait_loop_s=0.5,
        max_constructor_retry_count=MAX_TRIES,
        max_surge_percent=SURGE_PERCENT,
        logging_config={"enable_access_log": False},  # a client may have put private data into a path
        **scale,
    )(serve.ingress()(Replica))
    # Ray has no public way to declare that nothing changed, and would restart all replicas without this.
    deployment._version = settings.digest
    return deployment.bind(settings)


def _identities(models: dict[str, str], loading: Loading) -> dict[str, str]:
    """Check that these models can be loaded, before anything is changed."""
    seen = ray.get(ray.remote(num_cpus=0)(inspect_models).remote(models, loading))
    if "error" in seen:
        raise error_from_dict(seen["error"])
    identities: dict[str, str] = seen["identities"]
    return identities


def _place(where: str) -> str:
    """A folder as an absolute path; a name unchanged."""
    path = Path(where)
    return str(path.resolve()) if path.exists() else where


def wait_for_signal() -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


def end(address: str) -> None:
    """Let replicas finish accepted requests. If the signal also went to Ray, they are already gone."""
    _say("shutting down …")
    deleting = threading.Thread(target=serve.delete, args=(APPLICATION,), daemon=True)
    deleting.start()
    while deleting.is_alive():
        deleting.join(LOOK_SECONDS)
        if not is_there(address):
            _say("Ray stopped at once: running requests are lost. Send the signal to this process only.")
            os._exit(1)  # Ray's own shutdown would search for its processes for a minute


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
