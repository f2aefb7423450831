"""A recogniser that finds words of a list at once, and a server that runs beside a test."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from disconer.core.types import Document, Entity
from disconer.serve.app import create_app
from disconer.serve.server import Server, bound_socket, make_server
from disconer.serve.settings import Limits

PATIENCE = 120.0  # seconds until a service counts as hung, on a machine with much else to do

_ORGANS = re.compile(r"(renal) or (hepatic impairment)")
_NEARLY = re.compile(r"\bitch\b")
_WORDS = re.compile(r"\b(?:(?P<Drug>aspirin|statin)|(?P<Condition>pain|fever|impairment))\b", re.IGNORECASE)


class WordFinder:
    """Finds drugs (score 0.9) and conditions (0.6), and “renal … impairment” (0.3); nearly, itches (0.2)."""

    def __init__(self) -> None:
        self.labels: tuple[str, ...] = ("Condition", "Drug")
        self.runtime = "onnx"
        self.batches: list[list[str]] = []
        self.may_go_on = threading.Event()  # cleared, the model gets stuck
        self.may_go_on.set()
        self.started = threading.Event()

    def annotate(self, documents: Iterable[Document], *, threshold: float | None = None) -> Iterator[Document]:
        documents = list(documents)
        self.batches.append([document.text for document in documents])
        self.started.set()
        self.may_go_on.wait(20)
        for document in documents:
            if "explode" in document.text:
                raise ValueError(f"cannot read {document.text!r}")
            near = threshold is not None
            yield document.replace(entities=tuple(_find(document.text, near=near)))


def _find(text: str, *, near: bool) -> Iterator[Entity]:
    found = []
    for match in _NEARLY.finditer(text) if near else ():
        found.append(Entity("Condition", (match.span(),), score=0.2))
    for match in _ORGANS.finditer(text):
        head = text.index("impairment", match.start())
        found.append(Entity("Condition", (match.span(1), (head, match.end())), score=0.3))
        found.append(Entity("Condition", (match.span(2),), score=0.8))
    for match in _WORDS.finditer(text):
        label = str(match.lastgroup)
        found.append(Entity(label, (match.span(),), score=0.9 if label == "Drug" else 0.6))
    for number, entity in enumerate(sorted(found, key=lambda entity: entity.start), 1):
        yield Entity(entity.label, entity.fragments, f"T{number}", entity.score)


class Running:
    """A server, and requests to it."""

    def __init__(self, server: Server, port: int) -> None:
        self.server, self.port = server, port
        self.url = f"http://127.0.0.1:{port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], Any]:
        """Status, headers and JSON of an answer. A body that is not bytes is sent as JSON."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection.request(method, path, body, {"content-type": "application/json"} | (headers or {}))
        response = connection.getresponse()
        content = response.read()
        connection.close()
        is_json = "json" in response.headers.get("content-type", "")
        return response.status, dict(response.headers), json.loads(content) if is_json else content

    def predict(self, *texts: str, **more: Any) -> tuple[int, dict[str, str], Any]:
        return self.ask("POST", "/v1/predict", {"texts": texts} | more)

    def await_metric(self, line: str) -> None:
        """Wait until /metrics says something."""
        end = time.monotonic() + PATIENCE
        while line not in self.ask("GET", "/metrics")[2].decode():
            assert time.monotonic() < end, f"/metrics never said {line!r}"

    def is_well(self) -> bool:
        return self.predict("pain")[0] == 200

    def await_well(self) -> None:
        """Wait until it answers again."""
        end = time.monotonic() + PATIENCE
        while not self.is_well():
            assert time.monotonic() < end, "the service does not recover"


def raw_request(body: bytes, *headers: str) -> bytes:
    """The bytes of a prediction's request."""
    lines = [
        "POST /v1/predict HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        *(headers or [f"content-length: {len(body)}"]),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def running(
    finder: WordFinder | None = None,
    *,
    name: str = "words",
    token: str | None = None,
    drain_seconds: float = 0,
    **limits: Any,
) -> Iterator[Running]:
    """The service with one model, on a port of its own, until the block ends."""
    bounds = Limits(**limits)
    app = create_app({name: finder or WordFinder()}, limits=bounds, token=token)
    started = threading.Event()
    drain = app.state.service.drain
    server = make_server(app, bounds, on_start=started.set, on_drain=drain, drain_seconds=drain_seconds)
    bound = bound_socket("127.0.0.1", 0)
    port = bound.getsockname()[1]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield Running(server, port)
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
