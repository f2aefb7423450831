"""The end of a service: whatever it took is answered."""

from __future__ import annotations

import json
import resource
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse

import pytest

from disconer.serve.server import backlog_with_room
from disconer.serve.settings import Limits
from serve.fakes import WordFinder, running


def test_what_was_taken_is_answered_before_the_end() -> None:
    finder = WordFinder()
    statuses: list[int] = []
    with running(finder, batch_texts=2) as service:
        finder.may_go_on.clear()

        def ask() -> None:
            statuses.append(service.predict("pain", "fever", "none")[0])

        askers = [threading.Thread(target=ask) for _ in range(8)]
        for asker in askers:
            asker.start()
        service.await_metric('disconer_waiting_texts{model="words"} 22.0')  # two of 24 are in the model
        service.server.should_exit = True
        time.sleep(0.4)
        assert statuses == []
        finder.may_go_on.set()
        for asker in askers:
            asker.join()
    assert statuses == [200] * 8


def test_while_it_ends_open_connections_get_a_last_answer_and_new_ones_are_refused() -> None:
    with running(drain_seconds=5.0) as service:
        asking, probing = (HTTPConnection("127.0.0.1", service.port, timeout=20) for _ in range(2))
        for connection in (asking, probing):
            connection.request("GET", "/readyz")
            assert connection.getresponse().read() == b'{"status":"ready"}'
        service.server.should_exit = True
        response = await_the_end(probing)
        assert (response.status, response.headers["connection"]) == (503, "close")
        assert json.loads(response.read())["error"] == "ending"
        asking.request("POST", "/v1/predict", b'{"texts": ["pain"]}', {"content-type": "application/json"})
        response = asking.getresponse()
        assert (response.status, response.headers["connection"]) == (200, "close")
        with pytest.raises(ConnectionRefusedError):
            service.connect()


def await_the_end(connection: HTTPConnection) -> HTTPResponse:
    """The first answer that says that the service ends."""
    deadline = time.monotonic() + 10
    while True:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        if response.status != 200:
            return response
        response.read()
        assert time.monotonic() < deadline, "it does not notice that it is to end"


def test_without_connections_it_does_not_wait_for_any() -> None:
    with running(drain_seconds=100.0) as service:  # which fails if it takes 60 s to end
        assert service.is_well()


def test_a_second_signal_ends_it_at_once() -> None:
    finder = WordFinder()
    with running(finder, drain_seconds=100.0) as service:
        finder.may_go_on.clear()

        def ask_in_vain() -> None:
            with suppress(OSError):
                service.predict("pain")

        asker = threading.Thread(target=ask_in_vain)
        asker.start()
        finder.started.wait(10)
        service.server.handle_exit(15, None)
        service.server.handle_exit(15, None)
        start = time.monotonic()
    assert time.monotonic() - start < 60  # and not 100
    finder.may_go_on.set()
    asker.join()


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "backlog"),
    [
        (20_000, 20_000, None, 1024),
        (1024, 20_000, 1792, 1024),
        (1024, -1, 1792, 1024),  # no limit
        (1024, 1024, None, 256),
        (256, 300, 300, 1),
        (-1, -1, None, 1024),
    ],
)
def test_all_connections_have_room_among_open_files(
    soft: int, hard: int, raised: int | None, backlog: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits))
    assert backlog_with_room(Limits(connections=512)) == backlog
    assert given == ([] if raised is None else [(raised, hard)])


def test_a_limit_that_may_not_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", refused)
    assert backlog_with_room(Limits(connections=512)) == 256
