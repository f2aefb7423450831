"""One network for several workers: real processes, on the CPU."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import AuthenticationError
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from disconer import DisconerError
from disconer.core.ledger import Ledger
from disconer.formats import format_named
from disconer.formats.remote import open_source
from disconer.nn.arrays import WordArrays
from disconer.nn.heads.transition.kind import TransitionSettings
from disconer.predict import loading
from disconer.predict.inputs import units
from disconer.predict.loading import runs_on_gpu
from disconer.predict.local import jobs
from disconer.predict.local.work import Work
from disconer.predict.settings import Settings
from disconer.predict.shared import client, messages
from disconer.predict.shared.client import SharedRuntime
from disconer.predict.shared.messages import LONGEST, Address, Greeting, pack, unpack
from disconer.predict.shared.service import Service
from disconer.predict.walk import BLOCK_RECORDS

N = 2 * BLOCK_RECORDS + 100  # three blocks


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notes") / "in.jsonl"
    lines = (json.dumps({"id": f"d{number}", "text": f"p {'in my ' * (number % 5)}k"}) for number in range(N))
    path.write_text("\n".join(lines))
    return path


def asked(notes: Path, model: Path, n_jobs: int) -> Work:
    settings = Settings(str(model), device="cpu", runtime="torch")
    given = ((str(notes), None),)
    return Work(given, list(units(open_source(str(notes)))), settings, n_jobs, Ledger())


@pytest.mark.slow
def test_workers_with_one_network_find_what_one_process_does(
    notes: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = tmp_path / "one.jsonl", tmp_path / "many.jsonl"
    asked(notes, model, 1).into_file(one, format_named("jsonl"), force=False)
    monkeypatch.setattr(loading, "shares_network", lambda settings: True)
    asked(notes, model, 2).into_file(many, format_named("jsonl"), force=False)
    assert many.read_bytes() == one.read_bytes()
    assert b'"label"' in one.read_bytes()


@pytest.mark.slow
def test_a_network_that_cannot_be_loaded_is_one_error(
    notes: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "shares_network", lambda settings: True)
    wrong = asked(notes, model, 2)
    wrong = replace(wrong, settings=replace(wrong.settings, device="cuda:99"))
    with pytest.raises(DisconerError, match="no device 'cuda:99'"):
        wrong.into_file(tmp_path / "out.jsonl", format_named("jsonl"), force=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_network_that_is_killed_stops_all(
    notes: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "shares_network", lambda settings: True)
    monkeypatch.setattr(jobs, "SERVICE", "this")  # Python finds no module of this name, and exits
    started = time.monotonic()
    with pytest.raises(DisconerError, match="The process that has the network exited before its work was done"):
        asked(notes, model, 2).into_file(tmp_path / "out.jsonl", format_named("jsonl"), force=False)
    assert time.monotonic() - started < jobs.GRACE + 60


def test_on_a_gpu_there_are_as_many_workers_as_cores_beside_it(
    notes: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = asked(notes, model, 1)
    monkeypatch.setattr(jobs, "usable_cores", lambda: 16)
    monkeypatch.setattr(jobs, "BLOCK_BYTES", notes.stat().st_size // 40)
    assert jobs.default_jobs(given.inputs, given.settings) == 1
    monkeypatch.setattr(loading, "shares_network", lambda settings: True)
    assert jobs.default_jobs(given.inputs, given.settings) == 15
    monkeypatch.setattr(jobs, "BLOCK_BYTES", notes.stat().st_size // 3)
    assert jobs.default_jobs(given.inputs, given.settings) == 4
    monkeypatch.setattr(jobs, "BLOCK_BYTES", 2 * notes.stat().st_size)
    assert jobs.default_jobs(given.inputs, given.settings) == 1


def batch_of(numbers: np.ndarray) -> WordArrays:
    truths = np.array([[True, False]])
    return WordArrays(numbers, numbers, numbers, numbers, numbers, truths, numbers, truths, numbers, truths, numbers)


def test_a_batch_arrives_as_it_was_sent() -> None:
    batch = batch_of(np.array([[3, -1], [2**31 - 1, 0]]))
    arrived = unpack(pack(batch))
    for name in WordArrays.__slots__:
        assert (getattr(arrived, name) == getattr(batch, name)).all()
        assert (getattr(arrived, name).dtype == bool) == (getattr(batch, name).dtype == bool)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"device": "cuda"}, True),
        ({"device": "cuda:1", "precision": "bf16"}, True),
        ({"device": "cpu"}, False),
        ({"device": "cuda", "runtime": "onnx"}, False),
        ({"precision": "int8"}, False),
    ],
)
def test_workers_share_a_network_on_a_gpu(settings: dict[str, str], expected: bool) -> None:
    assert runs_on_gpu(Settings("model", **settings)) == expected


GREETING = Greeting("cpu", 1, 1, 1, 1)


def runtime_of(serve: Callable[[Any], None]) -> SharedRuntime:
    """A client of a network that another thread has: `serve` gets its end of the connection."""
    address = Address.new()
    listener = address.listener(1)

    def run() -> None:
        with listener, listener.accept() as connection:
            connection.send(GREETING)
            serve(connection)

    Thread(target=run, daemon=True).start()
    return SharedRuntime(address, SimpleNamespace(head=TransitionSettings()), (), near=False)  # type: ignore[arg-type]


def batches(first: int, n: int) -> Iterator[WordArrays]:
    return (batch_of(np.array([[number]])) for number in range(first, first + n))


def echo(connection: Any) -> None:
    while True:
        connection.send(unpack(connection.recv_bytes()).piece_ids.item())


def test_what_a_reader_leaves_is_not_taken_for_the_answers_to_others() -> None:
    runtime = runtime_of(echo)
    found = runtime.find(batches(1, 9))
    assert next(found) == 1
    found.close()  # type: ignore[attr-defined]
    assert list(runtime.find(batches(20, 5))) == [20, 21, 22, 23, 24]


def test_whoever_comes_after_a_reader_that_left_learns_that_the_network_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer_one_of_three(connection: Any) -> None:
        received = [unpack(connection.recv_bytes()) for _ in range(3)]
        connection.send(received[0].piece_ids.item())

    monkeypatch.setattr(client, "GRACE", 0)
    runtime = runtime_of(answer_one_of_three)
    found = runtime.find(batches(1, 9))
    assert next(found) == 1
    found.close()  # type: ignore[attr-defined]
    monkeypatch.setattr(runtime, "_send", lambda batch: None)  # what is sent may wait in the system
    errors: list[DisconerError] = []

    def ask() -> None:
        try:
            list(runtime.find(batches(20, 1)))
        except DisconerError as error:
            errors.append(error)

    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(5)
    assert [error.what for error in errors] == ["The process that runs the network has exited"]


@pytest.mark.parametrize("n", [1, 1000])  # it is missed as its answer is awaited, and as batches are sent
def test_a_network_that_is_gone_is_an_error_and_no_endless_wait(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "GRACE", 0)
    runtime = runtime_of(lambda connection: connection.recv_bytes())
    with pytest.raises(DisconerError, match="The process that runs the network has exited"):
        list(runtime.find(batches(1, n)))


def test_whoever_has_another_key_is_refused_and_others_are_not() -> None:
    address = Address.new()
    Service(SimpleNamespace(**{name: getattr(GREETING, name) for name in Greeting.__slots__}), address.listener(2))  # type: ignore[arg-type]
    with pytest.raises(AuthenticationError):
        replace(address, key="another").connect()
    with address.connect() as connection:
        assert connection.recv() == GREETING


@pytest.mark.skipif(os.name != "posix", reason="there, sockets have no paths")
def test_a_long_name_of_the_temporary_folder_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages.connection, "arbitrary_address", lambda family: str(tmp_path / ("x" * LONGEST)))
    address = Address.new()
    with address.listener(1):
        assert os.stat(os.path.dirname(address.path)).st_mode & 0o077 == 0
