"""Middleware for every request: metrics, security headers and a handler for unexpected errors (`Watch`); the check of
the bearer token (`TokenCheck`); reading the body within limits of size and time (`BodyLimit`).
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Collection
from http import HTTPStatus

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disconer.serve.batching import log_fault
from disconer.serve.problems import Problem, refuse, too_large

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
TEXTS = (1, 2, 4, 8, 16, 32, 64, 128)

disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the size of the response


class Metrics:
    """Counters, gauges and histograms; never a text or a part of one."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("disconer_requests", "Requests answered", ["path", "status"], registry=self._registry)
        self._seconds = Histogram(
            "disconer_request_seconds",
            "Time from the request head to the end of the response",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._texts = Counter("disconer_texts", "Texts processed by a model", ["model"], registry=self._registry)
        self._characters = Counter(
            "disconer_characters", "Characters processed by a model", ["model"], registry=self._registry
        )
        self._batch_texts = Histogram(
            "disconer_batch_texts", "Texts per batch", ["model"], buckets=TEXTS, registry=self._registry
        )
        self._batch_seconds = Histogram(
            "disconer_batch_seconds",
            "Time per batch in the model",
            ["model"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._waiting = Gauge("disconer_waiting_texts", "Texts waiting for a model", ["model"], registry=self._registry)
        ProcessCollector(registry=self._registry)

    def request(self, path: str, status: int, seconds: float) -> None:
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def batch_watcher(self, model: str) -> Callable[[int, int, float], None]:
        """Callback for a model's `Batcher`, called for each batch."""
        texts, characters = self._texts.labels(model), self._characters.labels(model)
        batch_texts, batch_seconds = self._batch_texts.labels(model), self._batch_seconds.labels(model)

        def watch(n_texts: int, n_characters: int, seconds: float) -> None:
            texts.inc(n_texts)
            characters.inc(n_characters)
            batch_texts.observe(n_texts)
            batch_seconds.observe(seconds)

        return watch

    def watch_queue(self, model: str, n_waiting: Callable[[], float]) -> None:
        self._waiting.labels(model).set_function(n_waiting)

    def exposition(self) -> bytes:
        return generate_latest(self._registry)


UNKNOWN_PATH = "(other)"  # arbitrary paths must not become metric labels

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Watch:
    """The outermost middleware.

    paths: those with metrics of their own.
    is_draining: whether the service is shutting down; then each response is the last on its connection.
    """

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, paths: Collection[str], is_draining: Callable[[], bool]
    ) -> None:
        self.app, self.metrics, self.paths, self.is_draining = app, metrics, paths, is_draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status: int | None = None

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                closing = [(b"connection", b"close")] if self.is_draining() else []
                message["headers"] = [*message.get("headers", []), *HEADERS, *closing]
            await send(message)

        try:
            await self.app(scope, receive, send_on)
        except Exception as error:
            log_fault("a request failed", error)
            if status is None:
                await _FAULT.send(send_on)
            else:
                raise _Broken from None
        finally:
            path = scope["path"] if scope["path"] in self.paths else UNKNOWN_PATH
            self.metrics.request(path, status or _GONE, time.perf_counter() - start)


class _Broken(Exception):
    """A response that was interrupted; the server closes the connection."""


_GONE = 499  # the client disconnected
_FAULT = Problem(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "fault",
    "Internal error of the service. See its log.",
)


# The page and the health checks reveal nothing about texts or models.
OPEN_PATHS = ("/", "/docs", "/healthz", "/readyz", "/openapi.json")
OPEN_FOLDER = "/assets/"


class TokenCheck:
    """Passes on requests with the right token, and those that need none."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self.app, self.expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(scope["path"]) or self._has_token(scope):
            await self.app(scope, receive, send)
            return
        problem = Problem(
            HTTPStatus.UNAUTHORIZED,
            "unauthorized",
            "This service requires a token. Send it in a header: 'Authorization: Bearer <token>'.",
            headers={"www-authenticate": "Bearer"},
        )
        await refuse(problem, scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(given, self.expected)  # constant time


def is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


class BodyLimit:
    """Passes on requests with their bodies buffered, and rejects those that are too large or too slow.

    A body whose Content-Length is too large is rejected unread, others as soon as they exceed the limit.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, seconds: float) -> None:
        self.app, self.max_bytes, self.seconds = app, max_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except Problem as problem:
            await refuse(problem, scope, receive, send)
            return
        if body is not None:
            await self.app(scope, _with_body(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body, or None if the client disconnected before its end."""
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if int(announced) > self.max_bytes:
            raise self._too_large(int(announced))
        parts: list[bytes] = []
        n_bytes = 0
        try:
            async with asyncio.timeout(self.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    n_bytes += len(parts[-1])
                    if n_bytes > self.max_bytes:
                        raise self._too_large(n_bytes)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise Problem(
                HTTPStatus.REQUEST_TIMEOUT,
                "too-slow",
                f"The body of this request did not arrive within {self.seconds:g} s. Send it again, or in parts.",
            ) from None

    def _too_large(self, n_bytes: int) -> Problem:
        return too_large("The body of this request", got=n_bytes, limit=self.max_bytes, unit="bytes")


def _with_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body first, then what follows: the client's disconnect."""
    given = False

    async def receive_body() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_body
