"""`disconer serve`: models over HTTP, and a page to try them on."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.model_options import PrecisionOption, RuntimeOption
from disconer.core.errors import DisconerError
from disconer.core.plugins import require
from disconer.predict.ray.plan import check_ray_installed
from disconer.serve.settings import AS_USUAL, Limits, Loading, RayPlan, Replicas, load_recognizers
from disconer.store.names import default_model
from disconer.text import SplitterName

if TYPE_CHECKING:
    from disconer.serve.service import Annotator  # loaded when the command runs: it needs the extra

HOST, PORT = "127.0.0.1", 8000
TOKEN_VARIABLE = "DISCONER_TOKEN"
NEEDED = ("fastapi", "uvicorn", "prometheus_client")
LOOPBACK = ("127.", "::1")
DEFAULT = Limits()
NONE = "0"  # replicas: stop the service


def serve_models(
    models: list[str],
    *,
    host: str = HOST,
    port: int = PORT,
    token: str | None = None,
    loading: Loading = AS_USUAL,
    limits: Limits = DEFAULT,
) -> None:
    """Serve models until a signal stops the process.

    models: `PATH` or `NAME=PATH`; the first is the default.
    """
    check_installed()
    from disconer.serve.app import create_app
    from disconer.serve.server import bound_socket, make_server
    from disconer.serve.service import model_names

    named = model_names(models)
    with bound_socket(host, port) as bound:
        recognizers = _load(named, loading)
        app = create_app(recognizers, limits=limits, token=token)
        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
        server = make_server(
            app,
            limits,
            on_start=lambda: _say_where(bound, recognizers, has_token=token is not None),
            on_drain=app.state.service.drain,
        )
        server.run(sockets=[bound])


def serve_models_on_ray(
    models: list[str],
    *,
    address: str,
    plan: RayPlan,
    host: str = HOST,
    port: int = PORT,
    token: str | None = None,
    loading: Loading = AS_USUAL,
    limits: Limits = DEFAULT,
) -> None:
    """Serve models on Ray; address and plan: see `disconer.serve.ray`."""
    check_installed()
    check_ray_installed()
    from disconer.serve.ray.deployment import serve_on_ray
    from disconer.serve.service import model_names

    named = model_names(models)
    if token is None and not host.startswith(LOOPBACK):
        _warn_of_strangers(host)
    serve_on_ray(
        named,
        address=address,
        host=host,
        port=port,
        plan=plan,
        limits=limits,
        token=token,
        loading=loading,
    )


def end_service_on_ray(address: str) -> None:
    """Stop the service on the Ray cluster at an address."""
    check_installed()
    check_ray_installed()
    from disconer.serve.ray.deployment import end_on_ray

    end_on_ray(address)


def check_installed() -> None:
    require("The service", "serve", NEEDED)


def _load(named: dict[str, str], loading: Loading) -> Mapping[str, Annotator]:
    print(f"loading {', '.join(named)} …", file=sys.stderr, flush=True)
    return load_recognizers(named, loading)


def _say_where(bound: socket.socket, models: Mapping[str, Annotator], *, has_token: bool) -> None:
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    names = ", ".join(f"{name} ({recognizer.runtime})" for name, recognizer in models.items())
    print(f"serving {names} on http://{shown}:{port} (Ctrl-C to stop)", file=sys.stderr, flush=True)
    if not has_token and not host.startswith(LOOPBACK):
        _warn_of_strangers(shown)


def _warn_of_strangers(host: str) -> None:
    print(
        f"warning: anyone who can reach {host} can use this service. Set a token to prevent that: --token or "
        f"${TOKEN_VARIABLE}.",
        file=sys.stderr,
        flush=True,
    )


def serve_cli(
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "-m", metavar="M", help="Model to serve, M or NAME=M; repeatable. The first is the default."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all interfaces.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            help="Bearer token that requests must send. Visible to other users in the process list; "
            f"prefer ${TOKEN_VARIABLE}.",
            envvar=TOKEN_VARIABLE,
            show_envvar=True,
        ),
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 …; default: a GPU if available.")] = None,
    splitter: Annotated[
        SplitterName | None,
        typer.Option(help="Sentence splitter; default: each model's. See data.splitter."),
    ] = None,
    parser: Annotated[
        str | None, typer.Option(metavar="P", help="Dependency parser to use instead of each model's own.")
    ] = None,
    precision: PrecisionOption = "fp32",
    runtime: RuntimeOption = None,
    max_body: Annotated[int, typer.Option(help="Maximum request size in bytes.")] = DEFAULT.body_bytes,
    max_texts: Annotated[int, typer.Option(help="Maximum texts per request.")] = DEFAULT.texts,
    max_characters: Annotated[int, typer.Option(help="Maximum characters per text.")] = DEFAULT.text_characters,
    max_queue: Annotated[
        int, typer.Option(help="Maximum texts waiting for a model; more are rejected.")
    ] = DEFAULT.queue_texts,
    max_batch: Annotated[int, typer.Option(help="Maximum texts per batch.")] = DEFAULT.batch_texts,
    max_wait: Annotated[
        float, typer.Option(help="Seconds a text waits for others to join its batch.")
    ] = DEFAULT.batch_seconds,
    max_connections: Annotated[int, typer.Option(help="Maximum open connections.")] = DEFAULT.connections,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="[ADDRESS]",
            help="Serve on Ray: at this address, or on a new local Ray. Updates a service running there.",
        ),
    ] = None,
    replicas: Annotated[
        str | None,
        typer.Option(metavar="N|MIN-MAX", help="With --ray: number of replicas; 0 stops the service."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="With --ray: CPUs per replica.")] = None,
    gpus: Annotated[
        float | None, typer.Option(min=0, help="With --ray: GPUs per replica; 0.5: two replicas share one.")
    ] = None,
) -> None:
    """Serve models over HTTP, with a web page to try them.

    POST /v1/predict finds entities in texts; /docs describes the API.
    """
    limits = Limits(
        body_bytes=max_body,
        texts=max_texts,
        text_characters=max_characters,
        queue_texts=max_queue,
        batch_texts=max_batch,
        batch_seconds=max_wait,
        connections=max_connections,
    )
    if ray is not None and replicas == NONE:
        end_service_on_ray(ray)
        return
    chosen = models or [default_model()]
    loading = Loading(device=device, splitter=splitter, parser=parser, runtime=runtime, precision=precision)
    if ray is not None:
        plan = RayPlan(replicas=Replicas.parse(replicas or "1"), threads=threads or 1, gpus=gpus or 0.0)
        serve_models_on_ray(
            chosen,
            address=ray,
            plan=plan,
            host=host,
            port=port,
            token=token,
            loading=loading,
            limits=limits,
        )
        return
    if (replicas, threads, gpus) != (None, None, None):
        raise DisconerError("--replicas, --threads and --gpus need --ray", fix="Add --ray.")
    serve_models(chosen, host=host, port=port, token=token, loading=loading, limits=limits)
