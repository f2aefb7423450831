"""Connections: timeouts for slow clients, and a graceful shutdown."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from disconer.core.errors import DisconerError
from disconer.serve.problems import unavailable
from disconer.serve.settings import Limits

DRAIN_SECONDS = 1.0  # for open connections to send a last request
DRAIN_STEPS = 20  # polls within that time whether any are left
END_SECONDS = 90  # after which running requests are abandoned
BACKLOG = 1024  # connections that the system queues until they are accepted
OTHER_FILES = 256  # that a process has open beside its connections

_FULL = unavailable("full", "This service has too many open connections. Try again soon.").body()
_FULL_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s"
) % (len(_FULL), _FULL)


class Deadline:
    """A timer that calls a function unless it is stopped in time."""

    def __init__(self, seconds: float, then: Callable[[], None]) -> None:
        self._seconds, self._then = seconds, then
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the timer, if it is not running."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._then)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Connection(H11Protocol):
    """A connection that closes if the client is too slow to send its request, or to read the response."""

    limits = Limits()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._head = Deadline(self.limits.head_seconds, transport.abort)
        self._reading = Deadline(self.limits.write_seconds, transport.abort)
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(_FULL_ANSWER)
            transport.close()
        else:
            self._head.start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # the request head has started but is incomplete
            self._head.start()
        else:
            self._head.stop()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reading.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head.stop()
        self._reading.stop()
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """Shuts down in two steps: first no new connections, and each response closes its own; then it closes the rest.

    Every accepted request is answered. A second signal stops it at once.

    on_start: called when connections are accepted; on_drain: when the shutdown begins.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        on_start: Callable[[], None],
        on_drain: Callable[[], None],
        drain_seconds: float,
    ) -> None:
        super().__init__(config)
        self._on_start, self._on_drain, self._drain_seconds = on_start, on_drain, drain_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_drain()
        await self._stop_listening(sockets or [])
        for _ in range(DRAIN_STEPS):
            if self.server_state.connections and not self.force_exit:
                await asyncio.sleep(self._drain_seconds / DRAIN_STEPS)
        await super().shutdown(sockets)

    async def _stop_listening(self, sockets: list[socket.socket]) -> None:
        """Accept the connections that the system has already established: closing would reset them."""
        made = [connection for listening in sockets for connection in _made_connections(listening)]
        for server in self.servers:
            server.close()
        for connection in made:
            await asyncio.get_running_loop().connect_accepted_socket(self._new_protocol, connection)

    def _new_protocol(self) -> asyncio.Protocol:
        return self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Unlike the parent's, it does not raise the signal again at the end: a requested shutdown is not a failure.
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True


def _made_connections(listening: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            yield listening.accept()[0]
        except OSError:  # no more pending
            return


def bound_socket(host: str, port: int) -> socket.socket:
    """A bound socket, so that a taken port is reported before a model is loaded; it listens later."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        raise DisconerError(
            f"The service cannot listen on {host} port {port}",
            got=str(error),
            fix="Choose another --port (0: any free port), or --host.",
        ) from error
    return bound


def backlog_with_room(limits: Limits) -> int:
    """Raise the limit on open files (`ulimit -n`, often 1,024) so that all connections fit; returns how many may be
    accepted at once. Those are additional: asyncio accepts them all before the first is answered that the service is
    full, and if there is no file left for one, it stops listening for a second.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return BACKLOG
    taken = limits.connections + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = taken + BACKLOG if hard == resource.RLIM_INFINITY else min(taken + BACKLOG, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # a container may forbid it
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return BACKLOG if soft == resource.RLIM_INFINITY else max(1, min(BACKLOG, soft - taken))


def make_server(
    app: ASGIApp,
    limits: Limits,
    *,
    on_start: Callable[[], None] = lambda: None,
    on_drain: Callable[[], None] = lambda: None,
    drain_seconds: float = DRAIN_SECONDS,
) -> Server:
    """A server whose `run(sockets=[…])` serves until a signal stops it."""
    config = uvicorn.Config(
        app,
        http=type("LimitedConnection", (Connection,), {"limits": limits}),
        loop="asyncio",
        ws="none",
        backlog=backlog_with_room(limits),
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        timeout_graceful_shutdown=END_SECONDS,
        server_header=False,
        access_log=False,  # a client may have put private data into a path
        log_config=None,
    )
    return Server(config, on_start=on_start, on_drain=on_drain, drain_seconds=drain_seconds)
