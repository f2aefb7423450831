"""Start the service on Ray, with proxies that take connections, change the one that runs there, and end it."""

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

from disconer.core.errors import DisconerError
from disconer.predict.local.messages import error_from_dict
from disconer.predict.ray.cluster import TOKEN_SETTING, join, knock, resolve, start
from disconer.predict.ray.plan import HERE
from disconer.serve.limits import Limits
from disconer.serve.ray import gate
from disconer.serve.ray.plan import Plan
from disconer.serve.ray.replica import Replica, Settings, inspect_models
from disconer.serve.server import END_SECONDS, bound_socket

SPARE_REPLICAS = 1  # that a Ray of our own has room for: a new replica starts before an old one ends
LATE_SECONDS = 5  # that a proxy waits longer for an answer than the service, which has something to say then
PATIENCE = 60  # seconds for a proxy to start on a busy machine

logging.getLogger("ray.serve").setLevel(logging.ERROR)  # what it would say of itself, we say

PROXIES = gate.VARIABLE | {"RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(PATIENCE)}


def start_with_room(plan: Plan) -> str:
    """Start a Ray that has room for all replicas of a plan. Returns its address."""
    start(n_cpus=max((plan.replicas.most + SPARE_REPLICAS) * plan.threads, os.cpu_count() or 1))
    return str(ray.get_runtime_context().gcs_address)


def is_there(address: str) -> bool:
    """Whether somebody listens at `host:port`."""
    try:
        knock(address, PATIENCE)
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


APPLICATION = "disconer"
SURGE_PERCENT = 20  # of the replicas that may be there in addition while models change; at least one
HEALTH_SECONDS = 2  # between two looks whether a replica is well
THREAD_VARIABLE = "OMP_NUM_THREADS"
LOOK_SECONDS = 0.5  # between two looks whether Ray is still there
MAX_TRIES = 3  # to start a replica, whose models were loaded before


def serve_on_ray(
    models: dict[str, str],
    *,
    address: str,
    host: str,
    port: int,
    plan: Plan,
    limits: Limits,
    token: str | None = None,
    device: str | None = None,
) -> None:
    """Serve models on Ray. On a Ray of its own until a signal says to end; on others, the service stays there.

    models: where each is, by name. A service that runs there already becomes what is said here, without a pause.
    """
    address = resolve(address)
    if own := address == HERE:
        port = free_port(host, port)  # one that is taken is said before anything starts
        address = start_with_room(plan)
    else:
        join(address)
    try:
        url = deploy(models, host=host, port=port, plan=plan, limits=limits, token=token, device=device)
        _say(f"serving {', '.join(models)} on {url}, {plan.replicas}")
        if own:
            _say(f"Ctrl-C ends it; to change it: {TOKEN_SETTING} disconer serve --ray {address} …")
            wait_for_signal()
            end(address)
    finally:
        ray.shutdown()


def end_on_ray(address: str) -> None:
    """End the service that stays on a Ray; others there go on."""
    address = resolve(address)
    if address == HERE:
        raise DisconerError(
            "--replicas 0 ends a service that runs on Ray", fix="Say where: --ray ADDRESS. Ctrl-C ends one of its own."
        )
    join(address)
    try:
        if APPLICATION not in serve.status().applications:
            raise DisconerError(f"No service of disconer runs on the Ray at {address}")
        serve.delete(APPLICATION)
        _say("ended")
    finally:
        ray.shutdown()


def deploy(
    models: dict[str, str],
    *,
    host: str,
    port: int,
    plan: Plan,
    limits: Limits,
    token: str | None = None,
    device: str | None = None,
) -> str:
    """Have the Ray that is connected serve these models, in place of those that it serves. Returns its URL."""
    places = {name: _place(where) for name, where in models.items()}
    _say(f"loading {', '.join(models)} …")
    settings = Settings(models=places, identities=_identities(places), limits=limits, token=token, device=device)
    url = start_proxies(host, port, limits)
    if APPLICATION in serve.status().applications:
        _say("changing the service that runs there …")
    try:
        serve.run(application(settings, plan), name=APPLICATION)
    except RuntimeError as error:  # Ray has logged why
        raise DisconerError(
            "Ray could not start the replicas of the service",
            got=str(error).splitlines()[0],
            fix="`serve status` says why. Replicas that ran before go on.",
        ) from error
    return url


def application(settings: Settings, plan: Plan) -> Any:
    """The service as Ray knows it."""
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
        # More than a replica's own queue holds: it refuses better, as it knows how long its queue is.
        max_ongoing_requests=settings.limits.queue_texts + 2 * settings.limits.batch_texts,
        max_queued_requests=settings.limits.queue_texts,
        backpressure_config={"status_code": 429},
        health_check_period_s=HEALTH_SECONDS,
        graceful_shutdown_timeout_s=END_SECONDS,
        graceful_shutdown_wait_loop_s=0.5,
        max_constructor_retry_count=MAX_TRIES,
        max_surge_percent=SURGE_PERCENT,
        logging_config={"enable_access_log": False},  # a path may hold what a client is not supposed to put there
        **scale,
    )(serve.ingress()(Replica))
    # Ray has no public way to say that nothing has changed, and starts all replicas anew without this.
    deployment._version = settings.digest
    return deployment.bind(settings)


def _identities(models: dict[str, str]) -> dict[str, str]:
    """Whether these models can be loaded is found out before anything is changed."""
    seen = ray.get(ray.remote(num_cpus=0)(inspect_models).remote(models))
    if "error" in seen:
        raise error_from_dict(seen["error"])
    identities: dict[str, str] = seen["identities"]
    return identities


def _place(where: str) -> str:
    """A folder as other processes find it; or a name, as it is."""
    path = Path(where)
    return str(path.resolve()) if path.exists() else where


def wait_for_signal() -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


def end(address: str) -> None:
    """Have replicas answer what they took. If the signal went to Ray, too, there is nobody left to ask for that."""
    _say("ending …")
    deleting = threading.Thread(target=serve.delete, args=(APPLICATION,), daemon=True)
    deleting.start()
    while deleting.is_alive():
        deleting.join(LOOK_SECONDS)
        if not is_there(address):
            _say("Ray ended at once: requests that it worked on are lost. Send the signal to this process only.")
            os._exit(1)  # Ray's own end would look for its processes for a minute


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
