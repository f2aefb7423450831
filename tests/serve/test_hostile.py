"""What no polite client does: each time the service must say no, or let go, and then be as well as before."""

from __future__ import annotations

import fcntl
import json
import re
import socket
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from serve.fakes import Running, WordFinder, raw_request, running

MEGABYTE = 10**6


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    limits = {"head_seconds": 1, "body_seconds": 1, "write_seconds": 1, "idle_seconds": 1}
    with running(**limits, connections=100) as started:
        yield started


@pytest.fixture(autouse=True)
def well_afterwards(service: Running) -> Iterator[None]:
    yield
    assert service.is_well()


def answer_to(service: Running, *parts: bytes, pause: float = 0.0) -> bytes:
    """All that comes back for these bytes until the service closes the connection; empty if it just does so."""
    with service.connect() as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(pause)
        return until_closed(connection)


def until_closed(connection: socket.socket) -> bytes:
    received = bytearray()
    try:
        while part := connection.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return bytes(received)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"texts": ' + b"[" * 100_000, 400),
        (b'{"texts": ["a"], "labels": ' + b'{"a":' * 100_000, 400),
        (b'{"texts": ["a"], "threshold": ' + b"9" * 100_000 + b"}", 400),
        (b'{"texts": ["a"], "threshold": NaN}', 422),
        (b'{"texts": ["a"], "threshold": 1e999}', 422),
        (b'{"texts": ["\\ud800"]}', 422),
        (b'{"texts": ["a"], "\\udfff": 1}', 422),
        (b'{"texts": ["a"], "model": "\\ud800"}', 422),
        (b'{"texts": ["a"], "labels": ["\\ud800"]}', 422),
        (b'{"texts": ["\xff\xfe"]}', 400),
        (b'\x00{"texts": ["a"]}', 400),
        ('{"texts": ["a"]}'.encode("utf-16"), 200),
        (b'{"texts": ["\x00"]}', 422),
        (b'{"texts": ["pain \\u0000 fever \\uffff \\ud83d\\ude00"]}', 200),
        (b"", 422),
        (b"null", 422),
        (b'{"texts": ["a"], "texts": ["b"]}', 200),
    ],
)
def test_odd_bodies(service: Running, body: bytes, status: int) -> None:
    assert service.ask("POST", "/v1/predict", body)[0] == status


@pytest.mark.parametrize("field", ["text", "label"])
def test_half_surrogate_pairs_to_be_drawn(service: Running, field: str) -> None:
    entity = {"label": "x\ud800" if field == "label" else "x", "fragments": [[0, 1]]}
    asked = {"text": "abc\ud800" if field == "text" else "abc", "entities": [entity]}
    assert service.ask("POST", "/v1/render", asked)[0] == 422


@pytest.mark.parametrize("fragments", [[[0, 99_000]], [[0, 1], [98_999, 99_000]]])
def test_entities_that_repeat_the_text_a_thousand_times(service: Running, fragments: list[list[int]]) -> None:
    before = peak_memory()
    asked = {"text": "pain\n" * 20_000, "entities": [{"label": "x", "fragments": fragments}] * 1_000}
    status, _, answer = service.ask("POST", "/v1/render", asked)
    assert (status, answer["error"]) == (413, "too-large")
    assert peak_memory(reset=False) - before < 30 * MEGABYTE


def test_many_lines_with_as_many_entities_as_may_be_drawn(service: Running) -> None:
    asked = {"text": "a\n" * 50_000, "entities": [{"label": "x", "fragments": [[0, 99_999]]}] * 10}
    assert service.ask("POST", "/v1/render", asked)[0] == 200


@pytest.mark.parametrize("headers", [[], ["transfer-encoding: chunked"]])
def test_a_hundred_megabytes_are_refused_unread(service: Running, headers: list[str]) -> None:
    before = peak_memory()
    part = b" " * MEGABYTE
    chunk = b"%x\r\n%s\r\n" % (len(part), part) if headers else part
    sent = 0
    start = time.monotonic()
    with service.connect() as connection:
        connection.sendall(raw_request(b"", *(headers or ["content-length: 100000000"])))
        try:
            for _ in range(100):
                connection.sendall(chunk)
                sent += MEGABYTE
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = until_closed(connection)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 413 ")  # it may be lost when the connection is closed
    assert sent <= 50 * MEGABYTE
    assert time.monotonic() - start < 30
    assert peak_memory(reset=False) - before < 30 * MEGABYTE


def peak_memory(*, reset: bool = True) -> int:
    """The most memory that this process, in which the service runs, has had at once; from now on, with `reset`."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024 * int(peak)


def test_a_client_that_waits_to_be_asked_is_refused_before_it_sends(service: Running) -> None:
    answer = answer_to(service, raw_request(b"", "content-length: 100000000", "expect: 100-continue"))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"] == "too-large"


@pytest.mark.slow
def test_slow_heads(service: Running) -> None:
    start = time.monotonic()
    assert answer_to(service, b"POST /v1/predict HTTP/1.1\r\n") == b""
    assert answer_to(service, *[b"a"] * 30, pause=0.05) == b""  # a byte at a time
    assert answer_to(service) == b""
    assert time.monotonic() - start < 25


def test_a_slow_second_head(service: Running) -> None:
    answer = answer_to(service, raw_request(b'{"texts": ["pain"]}'), b"GET /heal", pause=0.2)
    assert answer.count(b"HTTP/1.1 200") == 1


@pytest.mark.slow
def test_slow_bodies(service: Running) -> None:
    answer = answer_to(service, raw_request(b'{"te', "content-length: 1000"))
    assert answer.startswith(b"HTTP/1.1 408 ")
    drops = [raw_request(b"", "content-length: 1000"), *[b" "] * 30]
    assert answer_to(service, *drops, pause=0.05).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_goes_away_amid_its_body(service: Running) -> None:
    with service.connect() as connection:
        connection.sendall(raw_request(b'{"te', "content-length: 1000"))


def unread(connection: socket.socket) -> int:
    """The number of bytes that wait to be read."""
    return int.from_bytes(fcntl.ioctl(connection, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
def test_a_client_that_does_not_read(service: Running) -> None:
    n_requests = 1000  # whose answers are more than the system buffers
    with service.connect() as connection:
        connection.sendall(b"GET /assets/drawing.css HTTP/1.1\r\nhost: localhost\r\n\r\n" * n_requests)
        before = -1
        while before < (waiting := unread(connection)):  # a busy machine takes its time to fill the buffers
            before = waiting
            time.sleep(3)
        received = until_closed(connection)
    assert 0 < received.count(b"HTTP/1.1 200") < n_requests


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"\x00\x01\x02\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 200),
        (b"POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-length: -5\r\n\r\n", 400),
        (b"POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 20_000 + b"\r\n", 200),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n", 404),
        (b"POST /v1/predict HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400),
    ],
)
def test_what_is_hardly_http(service: Running, request_: bytes, status: int) -> None:
    assert answer_to(service, request_).startswith(b"HTTP/1.1 %d " % status)


def test_paths_that_climb(service: Running) -> None:
    for path in ("/assets/../app.py", "/assets/%2e%2e/app.py", "/assets/", "//assets/page.js/../../app.py"):
        assert service.ask("GET", path)[0] == 404


def test_too_many_connections() -> None:
    with running(connections=3) as service:
        open_ones = [service.connect() for _ in range(3)]
        refused = answer_to(service, b"")
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 5" in refused
        assert json.loads(refused.split(b"\r\n\r\n", 1)[1])["error"] == "full"
        for one in open_ones:
            one.close()
        service.await_well()


def test_pipelined_requests_are_answered_in_order(service: Running) -> None:
    requests = [raw_request(json.dumps({"texts": [f"pain {number}"]}).encode()) for number in range(5)]
    answer = answer_to(service, b"".join(requests))
    assert [answer.find(b"pain %d" % number) for number in range(5)] == sorted(
        answer.find(b"pain %d" % number) for number in range(5)
    )
    assert answer.count(b"HTTP/1.1 200") == 5


def test_a_swarm_of_slow_clients_keeps_no_other_out() -> None:
    finder = WordFinder()
    with running(finder, head_seconds=5.0) as service:
        swarm = [service.connect() for _ in range(200)]
        for one in swarm:
            one.sendall(b"POST /v1/predict HTTP/1.1\r\n")
        seconds: list[float] = []

        def ask() -> None:
            start = time.monotonic()
            assert service.is_well()
            seconds.append(time.monotonic() - start)

        askers = [threading.Thread(target=ask) for _ in range(10)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        for one in swarm:
            one.close()
    assert len(seconds) == 10
    assert max(seconds) < 3
