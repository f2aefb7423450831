"""What clients are told when Ray has no answer of a replica. Ray is played by a few lines."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from disconer.serve.middleware import HEADERS
from disconer.serve.ray.gate import VARIABLE, Gate


def answer(status: int, *headers: tuple[bytes, bytes]) -> list[Message]:
    return [
        {"type": "http.response.start", "status": status, "headers": list(headers)},
        {"type": "http.response.body", "body": b"as it was", "more_body": False},
    ]


def ask(messages: list[Message], path: str = "/v1/predict") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body that a client gets where Ray would send these messages."""
    sent: list[Message] = []

    async def ray(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("the gate leaves bodies to replicas")

    asyncio.run(Gate(ray)({"type": "http", "path": path}, receive, send))
    head, *bodies = sent
    headers = {name.decode(): value.decode() for name, value in head["headers"]}
    return head["status"], headers, b"".join(body["body"] for body in bodies)


@pytest.mark.parametrize("status", [200, 404, 422, 429, 500, 503])
def test_what_a_replica_says_passes(status: int) -> None:
    got, _, body = ask(answer(status, *HEADERS))
    assert (got, body) == (status, b"as it was")


DIED_BEFORE_ITS_ANSWER: list[Message] = []
DIED_WITHIN_ITS_ANSWER = answer(200, *HEADERS)[:1]


@pytest.mark.parametrize(
    ("messages", "status", "error"),
    [
        (DIED_BEFORE_ITS_ANSWER, 503, "replica-lost"),
        (DIED_WITHIN_ITS_ANSWER, 503, "replica-lost"),
        (answer(500), 503, "replica-lost"),
        (answer(503), 503, "not-ready"),
        (answer(404), 503, "not-ready"),
        (answer(408), 503, "too-late"),
        (answer(429), 429, "busy"),
    ],
)
def test_what_ray_says_itself_becomes_a_problem(messages: list[Message], status: int, error: str) -> None:
    got, headers, body = ask(messages)
    problem: dict[str, Any] = json.loads(body)
    assert (got, problem["error"]) == (status, error)
    assert int(headers["retry-after"]) > 0
    assert int(headers["content-length"]) == len(body)
    assert headers["x-content-type-options"] == "nosniff"


def test_applications_of_others_are_left_alone() -> None:
    assert ask(answer(503), path="/their/own")[2] == b"as it was"


def test_ray_finds_the_layers_by_their_name() -> None:
    module, _, function = VARIABLE["RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"].rpartition(".")
    (layer,) = getattr(import_module(module), function)()
    assert layer.cls is Gate
