"""Whatever is raised while a request is answered becomes a `Problem`, so that every refusal has the same form."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from disconer.serve.problems import Problem, not_valid

MAX_DETAILS = 20  # faults of one request that are listed

_MESSAGES = {
    HTTPStatus.BAD_REQUEST: "The body of this request cannot be read as JSON.",
    HTTPStatus.NOT_FOUND: "There is nothing at this path. /docs lists what there is.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This path does not take this method. /docs lists what it takes.",
}


def handle_faults(app: FastAPI) -> None:
    """Have the application answer in problems."""
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
    code = status.phrase.lower().replace(" ", "-")
    return await _problem(request, Problem(status, code, message, headers=error.headers))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    details = [{"where": _where(fault["loc"]), "message": _message(fault)} for fault in faults[:MAX_DETAILS]]
    first = details[0]
    message = f"The request is not valid. {first['where']}: {first['message']}."
    if len(faults) > 1:
        message += f" And {len(faults) - 1} more."
    return await _problem(request, not_valid(message, details))


def _where(location: Sequence[int | str]) -> str:
    """The place as people write it.

    >>> _where(("body", "texts", 3))
    'texts[3]'
    """
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location[1:])
    return path.removeprefix(".") or str(location[0])


def _message(fault: dict[str, Any]) -> str:
    """What is wrong, without the value, which may be long, and is known to who sent it."""
    if fault["type"] == "json_invalid":
        return f"this is not JSON ({fault['ctx']['error']})"
    text = str(fault["msg"]).rstrip(".")
    return text[:1].lower() + text[1:]
