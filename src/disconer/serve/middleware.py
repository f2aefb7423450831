"""Before the application: the bearer token is checked, and the body is read within limits of size and time."""

from __future__ import annotations

import asyncio
import hmac
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disconer.serve.problems import Problem, refuse, too_large

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
