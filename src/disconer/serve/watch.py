"""What holds for every request: it is counted, its answer carries safe headers, and no fault gets past."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disconer.serve.batching import log_fault
from disconer.serve.metrics import Metrics
from disconer.serve.problems import Problem

UNKNOWN_PATH = "(other)"  # paths that clients make up are no label for a figure

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
    """The outermost layer.

    paths: those that figures are told apart by.
    is_draining: whether the service is about to end; then each answer is the last on its connection.
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
    """An answer that broke off half-way; the server closes the connection."""


_GONE = 499  # nobody was there to answer
_FAULT = Problem(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "fault",
    "Something went wrong in the service, not in the request. Its log says where.",
)
