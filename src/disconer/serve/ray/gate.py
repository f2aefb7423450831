"""Middleware in Ray's proxies: errors that do not come from a replica get the service's own format.

Ray responds with a bare 500 when a replica dies during a request, and with plain text when there is none. Its proxies
load middleware from a function named by an environment variable: see `VARIABLE`.
"""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disconer.serve.middleware import HEADERS, is_open
from disconer.serve.problems import Problem, busy, unavailable

VARIABLE = {"RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": f"{__name__}.layers"}

PATHS = ("/metrics", "/v1/")  # besides those that need no token
MARK = HEADERS[0]  # every response of a replica has it
RETRY_SECONDS = 2  # until another replica has taken over, or a queue has shrunk


class Gate:
    """Passes on responses of replicas, and responds itself if there is none.

    Paths of other applications behind the same proxy are passed through.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_ours(scope["path"]):
            await self.app(scope, receive, send)
            return
        head: Message | None = None  # held back until the body starts: a replica may die in between
        passed_on = False

        async def send_on(message: Message) -> None:
            nonlocal head, passed_on
            if message["type"] == "http.response.start":
                head = message
            elif head is not None and MARK in map(tuple, head["headers"]):
                if not passed_on:
                    await send(head)
                    passed_on = True
                await send(message)

        await self.app(scope, receive, send_on)
        if not passed_on:
            await problem(head["status"] if head else None).send(send, close=True)


def is_ours(path: str) -> bool:
    return is_open(path) or path.startswith(PATHS)


def problem(status: int | None) -> Problem:
    """The error that replaces Ray's response; None: no response, as the replica died during the request."""
    if status == 429:
        refusal = busy(RETRY_SECONDS)
    elif status == 408:
        refusal = unavailable("too-late", "The request timed out. Send less text, or try again soon.")
    elif status in (404, 503):
        refusal = unavailable("not-ready", "This service has no running replica at the moment. Try again soon.")
    else:
        refusal = unavailable(
            "replica-lost", "The process that handled this request died. Send it again.", RETRY_SECONDS
        )
    refusal.headers |= {name.decode("ascii"): value.decode("ascii") for name, value in HEADERS}
    return refusal


def layers() -> list[Middleware]:
    return [Middleware(Gate)]
