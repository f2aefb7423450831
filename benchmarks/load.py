"""Clients for benchmarks/serving.py: many at once, light enough to leave the machine to the server."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

CONNECT_ERRORS = (ConnectionRefusedError, ConnectionResetError, BrokenPipeError)
REFUSED = "refused"  # no connection: the server did not see the request
LOST = "lost"  # the request was sent, but no complete response came back


@dataclass
class Answer:
    """The outcome of a request.

    outcome: the status, `REFUSED` or `LOST`. seconds: since it was due.
    """

    number: int  # of the text
    outcome: int | str
    seconds: float
    body: bytes = b""


class Client:
    """One connection after another, each kept as long as the server likes."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, number: int, request: bytes, due: float | None = None) -> Answer:
        start = due or time.perf_counter()
        try:
            reader, writer = self._streams or await asyncio.open_connection(self.host, self.port, limit=2**20)
        except OSError:
            return Answer(number, REFUSED, time.perf_counter() - start)
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            status, headers = int(head[9:12]), head.lower()
            body = await reader.readexactly(int(headers.split(b"content-length: ")[1].split(b"\r\n")[0]))
        except (asyncio.IncompleteReadError, *CONNECT_ERRORS):
            self._drop(writer)
            return Answer(number, LOST, time.perf_counter() - start)
        if b"connection: close" in headers:
            self._drop(writer)
        else:
            self._streams = reader, writer
        return Answer(number, status, time.perf_counter() - start, body)

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        writer.close()
        self._streams = None

    def close(self) -> None:
        if self._streams:
            self._drop(self._streams[1])


def requests_of(texts: Sequence[str]) -> list[bytes]:
    """The bytes of a request for each text."""
    requests = []
    for text in texts:
        body = json.dumps({"texts": [text]}).encode()
        head = "POST /v1/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        requests.append(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    return requests


async def one_by_one(host: str, port: int, requests: Sequence[bytes]) -> list[Answer]:
    """One request at a time, each once."""
    client = Client(host, port)
    answers = [await client.ask(number, request) for number, request in enumerate(requests)]
    client.close()
    return answers


async def closed_loop(
    host: str,
    port: int,
    requests: Sequence[bytes],
    *,
    clients: int,
    seconds: float,
    enough: asyncio.Event | None = None,
) -> list[Answer]:
    """Closed loop: a number of clients, each of which sends the next request after a response, in its own order.

    enough: ends it before its time.
    """
    answers: list[Answer] = []
    end = time.perf_counter() + seconds

    async def run(seed: int) -> None:
        client, rng = Client(host, port), random.Random(seed)
        while time.perf_counter() < end and not (enough and enough.is_set()):
            number = rng.randrange(len(requests))
            answers.append(await client.ask(number, requests[number]))
            if answers[-1].outcome == REFUSED:
                break
        client.close()

    await asyncio.gather(*[run(seed) for seed in range(clients)])
    return answers


async def open_loop(host: str, port: int, requests: Sequence[bytes], *, rate: float, seconds: float) -> list[Answer]:
    """Open loop: requests at a given rate at random times, regardless of responses."""
    rng = random.Random(0)
    idle: list[Client] = []
    start = due = time.perf_counter()
    running: list[asyncio.Task[Answer]] = []

    async def ask(number: int, due: float) -> Answer:
        client = idle.pop() if idle else Client(host, port)
        answer = await client.ask(number, requests[number], due)
        idle.append(client)
        return answer

    while due < start + seconds:
        due += rng.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        running.append(asyncio.create_task(ask(rng.randrange(len(requests)), due)))
    answers = await asyncio.gather(*running)
    for client in idle:
        client.close()
    return answers
