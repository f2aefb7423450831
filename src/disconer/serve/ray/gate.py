"""In Ray's proxies: whatever does not come from a replica is said in the service's own words.

Ray answers 500 without a body of use when a replica dies under a request, and plain text when there is none. Its
proxies take further layers from a function that an environment variable names: see `VARIABLE`.
"""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disconer.serve.middleware import is_open
from disconer.serve.problems import Problem, busy, unavailable
from disconer.serve.watch import HEADERS

VARIABLE = {"RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": f"{__name__}.layers"}

PATHS = ("/metrics", "/v1/")  # beside those that need no token
MARK = HEADERS[0]  # every answer of a replica has it
RETRY_SECONDS = 2  # until another replica has taken over, or a queue has shrunk


class Gate:
    """Passes on what replicas answer, and answers itself where none does.

    Other applications may live behind the same proxy: their paths are none of its business.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_ours(scope["path"]):
            await self.app(scope, receive, send)
            return
        head: Message | None = None  # held back until there is a body: a replica may die between the two
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
    """What to say instead of Ray's answer; None: it had none, as the replica died under the request."""
    if status == 429:
        refusal = busy(RETRY_SECONDS)
    elif status == 408:
        refusal = unavailable("too-late", "There was no answer in time. Send less, or try again soon.")
    elif status in (404, 503):
        refusal = unavailable("not-ready", "This service has no model at work just now. Try again soon.")
    else:
        refusal = unavailable(
            "replica-lost", "The process that worked on this request has died. Send it again.", RETRY_SECONDS
        )
    refusal.headers |= {name.decode("ascii"): value.decode("ascii") for name, value in HEADERS}
    return refusal


def layers() -> list[Middleware]:
    return [Middleware(Gate)]
