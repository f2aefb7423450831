"""Only this page may use its server: other pages that are open in the same browser could send requests to it, too."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from disconer.serve.problems import Problem, refuse

LOCAL = ("localhost", "127.0.0.1", "::1")


class SameOrigin:
    """Refuses requests that another site's page makes, and names of this machine that another site gave it.

    local: whether the server is for browsers of this machine only, which know it by one of its usual names.
    """

    def __init__(self, app: ASGIApp, *, local: bool) -> None:
        self.app, self.local = app, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_own(dict(scope["headers"])):
            await self.app(scope, receive, send)
            return
        problem = Problem(HTTPStatus.FORBIDDEN, "forbidden", "This server only answers its own page.")
        await refuse(problem, scope, receive, send)

    def _is_own(self, headers: dict[bytes, bytes]) -> bool:
        host = headers.get(b"host", b"").decode("latin-1")
        if self.local and urlsplit(f"//{host}").hostname not in LOCAL:
            return False
        origin = headers.get(b"origin")
        return origin is None or urlsplit(origin.decode("latin-1")).netloc == host
