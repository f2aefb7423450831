"""The service on a Ray of its own: the same answers, a lost replica, another model, and what is wrong with one.

All tests share that Ray, as starting one takes seconds. They leave two replicas at work.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from disconer import DisconerError
from disconer.predict.recognizer import Recognizer
from disconer.serve.settings import Limits
from disconer.store.checkpoint import save_model
from nn.toy import letter_model
from serve.fakes import Running, running

ray = pytest.importorskip("ray")

from ray.serve.context import _get_global_client  # noqa: E402

from disconer.serve.ray import deployment  # noqa: E402
from disconer.serve.ray.deployment import free_port, start_with_room  # noqa: E402
from disconer.serve.settings import RayPlan, Replicas  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(" " in sys.executable, reason="Ray Serve cannot start a Python whose path contains a space"),
]

HOST, CLIENTS = "127.0.0.1", 6
PAUSE = 0.05  # seconds of a client between two requests: the machine is needed for replicas that start
TEXT = "p and x , k or p ."


class OnRay(Running):
    """The service on Ray, and requests to it."""

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(None, port)  # type: ignore[arg-type]  # the server is Ray's
        self.folder = folder

    def deploy(self, model: str, *, replicas: int = 2) -> str:
        plan = RayPlan(replicas=Replicas(replicas, replicas))
        models = {model: str(self.folder / model)}
        return deployment.deploy(models, host=HOST, port=self.port, plan=plan, limits=Limits())

    @property
    def replicas(self) -> set[int]:
        client = _get_global_client()
        assert client is not None
        application = client.get_serve_details()["applications"][deployment.APPLICATION]
        replicas = application["deployments"][deployment.APPLICATION]["replicas"]
        return {replica["pid"] for replica in replicas if replica["state"] == "RUNNING"}

    def await_replicas(self, number: int, *, without: int | None = None) -> set[int]:
        end = time.monotonic() + 60
        while len(found := self.replicas) != number or without in found:
            assert time.monotonic() < end, f"the replicas are {found}, not {number} without {without}"
            time.sleep(0.2)
        return found

    @contextmanager
    def under_load(self) -> Iterator[list[tuple[int, Any]]]:
        """Clients that ask as long as the block lasts: what they got."""
        answers: list[tuple[int, Any]] = []
        enough = threading.Event()

        def ask() -> None:
            while not enough.is_set():
                status, _, body = self.predict(TEXT)
                answers.append((status, body))
                time.sleep(PAUSE)

        with ThreadPoolExecutor(CLIENTS) as clients:
            asking = [clients.submit(ask) for _ in range(CLIENTS)]
            try:
                yield answers
            finally:
                enough.set()
        for one in asking:
            one.result()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnRay]:
    folder = tmp_path_factory.mktemp("models")
    for name in ("first", "second"):
        save_model(letter_model(), folder / name)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OMP_NUM_THREADS", "1")
        environment.delenv("RAY_ADDRESS", raising=False)
        start_with_room(RayPlan(replicas=Replicas(4, 4)))
        try:
            on_ray = OnRay(folder, free_port(HOST, 0))
            assert on_ray.deploy("first") == on_ray.url
            yield on_ray
        finally:
            ray.shutdown()


def entities(body: Any) -> list[Any]:
    return [(entity["label"], entity["fragments"]) for entity in body["documents"][0]["entities"]]


def test_it_answers_as_the_plain_service_does(service: OnRay) -> None:
    with running(Recognizer.from_pretrained(service.folder / "first"), name="first") as plain:  # type: ignore[arg-type]
        for method, path, body in (
            ("POST", "/v1/predict", {"texts": [TEXT, "", "none"]}),
            ("POST", "/v1/predict", {"texts": [TEXT], "format": "brat"}),
            ("POST", "/v1/predict", {"texts": 3}),
            ("GET", "/v1/models", None),
            ("GET", "/nothing", None),
            ("GET", "/readyz", None),
            ("GET", "/", None),
        ):
            status, headers, content = service.ask(method, path, body)
            expected_status, expected_headers, expected = plain.ask(method, path, body)
            assert (status, content) == (expected_status, expected)
            assert headers["content-security-policy"] == expected_headers["content-security-policy"]
    assert entities(service.predict(TEXT)[2])


def test_a_killed_replica_fails_what_it_held_with_503_and_is_replaced(service: OnRay) -> None:
    before = service.await_replicas(2)
    expected = entities(service.predict(TEXT)[2])
    with service.under_load() as answers:
        time.sleep(1)
        os.kill(min(before), signal.SIGKILL)
        time.sleep(2)
    failed = [body["error"] for status, body in answers if status != 200]
    assert {status for status, _ in answers} <= {200, 503}
    assert len(failed) <= CLIENTS
    assert set(failed) <= {"replica-lost"}
    assert all(entities(body) == expected for status, body in answers if status == 200)
    service.await_replicas(2, without=min(before))


def test_another_model_takes_over_without_a_failed_request(service: OnRay) -> None:
    service.deploy("first")
    before = service.await_replicas(2)
    with service.under_load() as answers:
        service.deploy("second")
    assert {status for status, _ in answers} == {200}
    assert answers[0][1]["model"] == "first"
    assert service.predict(TEXT)[2]["model"] == "second"
    assert not before & service.await_replicas(2)


def test_more_replicas_leave_those_that_are_there(service: OnRay) -> None:
    service.deploy("second")
    before = service.await_replicas(2)
    service.deploy("second", replicas=3)
    assert before < service.await_replicas(3)
    service.deploy("second")
    service.await_replicas(2)


def test_a_model_that_cannot_be_loaded_changes_nothing(service: OnRay) -> None:
    before = service.await_replicas(2)
    (service.folder / "broken").mkdir(exist_ok=True)
    with pytest.raises(DisconerError, match="broken"):
        service.deploy("broken")
    assert service.replicas == before
    assert service.is_well()
