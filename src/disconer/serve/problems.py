"""Error responses: a status, a code for programs, a message for people."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

LINGER_BYTES = 16_000_000
LINGER_SECONDS = 2.0
_SHOWN_FAULTS = 3  # in a message; `details` have more
_SHOWN_TYPE = 60  # characters of a content type in a message


class Problem(Exception):
    """A request that ends in an error response.

    code: what went wrong, for programs.
    message: what went wrong and what to do, for people.
    details: where in the request, for each validation error.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status, self.code, self.message, self.details = status, code, message, details
        self.headers = dict(headers or {})
        super().__init__(code)

    def body(self) -> bytes:
        """The JSON, in ASCII so that a lone surrogate can be quoted."""
        content: dict[str, Any] = {"error": self.code, "message": self.message}
        if self.details:
            content["details"] = list(self.details)
        return json.dumps(content).encode("ascii")

    async def send(self, send: Send, *, close: bool = False, more_body: bool = False) -> None:
        body = self.body()
        headers = {"content-type": "application/json", "content-length": str(len(body))} | self.headers
        if close:
            headers["connection"] = "close"
        await send(
            {
                "type": "http.response.start",
                "status": self.status,
                "headers": [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()],
            }
        )
        await send({"type": "http.response.body", "body": body, "more_body": more_body})


def too_large(what: str, *, got: int, limit: int, unit: str) -> Problem:
    message = f"{what} is too large: {got:,} {unit}, but the limit is {limit:,}. Split it."
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", message)


def not_valid(message: str, details: Sequence[Mapping[str, str]] = ()) -> Problem:
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", message, details=details)


async def needs_json(request: Request) -> None:
    """Refuse a body of another content type, or without one: FastAPI does not parse it."""
    given = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if given == "application/json" or re.fullmatch(r"application/[\w.-]+\+json", given):
        return
    if given or await request.body():
        said = f"is {given[:_SHOWN_TYPE]!r}" if given else "has no content type"
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            f"The body of this request {said}, but must be JSON. Send it with the header "
            "'Content-Type: application/json'.",
        )


def busy(retry_after: int) -> Problem:
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        "busy",
        f"Too many texts are waiting. Try again in {retry_after} s.",
        headers={"retry-after": str(retry_after)},
    )


def unavailable(code: str, message: str, retry_after: int = 5) -> Problem:
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, code, message, headers={"retry-after": str(retry_after)})


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with an error although the body was not read completely, and close the connection.

    A client that is still sending would not see the response if the connection were closed at once: its data is read
    and discarded for a moment, unless it waits for 100 Continue, or has already timed out.
    """
    await problem.send(send, close=True, more_body=True)
    waits_to_be_asked = any(name == b"expect" for name, _ in scope["headers"])
    if not waits_to_be_asked and problem.status != HTTPStatus.REQUEST_TIMEOUT:
        await _throw_away(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _throw_away(receive: Receive) -> None:
    n_bytes, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while more and n_bytes < LINGER_BYTES:
                message = await receive()
                n_bytes += len(message.get("body", b""))
                more = message.get("more_body", False)


MAX_DETAILS = 20  # validation errors listed per request

_MESSAGES = {
    HTTPStatus.BAD_REQUEST: "The body of this request cannot be read as JSON.",
    HTTPStatus.NOT_FOUND: "There is nothing at this path. /docs lists all paths.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This path does not support this method. /docs lists the methods of each path.",
}


def handle_faults(app: FastAPI) -> None:
    """Make the application respond with problems."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(RequestValidationError, _invalid)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return Response(error.body(), error.status, error.headers, "application/json")


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    message = _MESSAGES.get(status, f"{status.phrase}.")
    if request.app.openapi_url is None:  # an application without a documented API, as that of annotating
        message = message.partition(" /docs ")[0]
    code = status.phrase.lower().replace(" ", "-")
    return await _problem(request, Problem(status, code, message, headers=error.headers))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    details = [{"where": _where(fault["loc"]), "message": _message(fault)} for fault in faults[:MAX_DETAILS]]
    said = "; ".join(f"{detail['where']}: {detail['message']}" for detail in details[:_SHOWN_FAULTS])
    message = f"The request is not valid. {said}."
    if len(faults) > _SHOWN_FAULTS:
        message += f" And {len(faults) - _SHOWN_FAULTS} more."
    return await _problem(request, not_valid(message, details))


def _where(location: Sequence[int | str]) -> str:
    """The location in readable form.

    >>> _where(("body", "texts", 3))
    'texts[3]'
    >>> _where(("body", 17))  # where the body is no longer JSON
    'body, character 17'
    """
    if len(location) == 2 and isinstance(location[1], int):
        return f"{location[0]}, character {location[1]}"
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location[1:])
    return path.removeprefix(".") or str(location[0])


def _message(fault: dict[str, Any]) -> str:
    """What is wrong, without the value, which may be long, and which the client knows."""
    if fault["type"] == "json_invalid":
        return f"this is not JSON ({fault['ctx']['error']})"
    text = str(fault["msg"]).rstrip(".")
    return text[:1].lower() + text[1:]
