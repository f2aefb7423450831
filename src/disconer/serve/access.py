"""Authentication by bearer token, if one is set."""

from __future__ import annotations

import hmac
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from disconer.serve.problems import Problem, refuse

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
