"""What is said when there is no Ray to join, or none can be started; one that is there, others try."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install 'disconer[ray]'")

import ray

from disconer import DisconerError
from disconer.predict.ray.cluster import join, resolve, start
from disconer.predict.ray.plan import HERE


def test_an_address_for_all_programs_stands_in_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert resolve(HERE) == HERE
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert resolve(HERE) == "head:6379"
    assert resolve("other:6379") == "other:6379"


def test_an_address_where_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        port = closed_soon.getsockname()[1]
    with pytest.raises(DisconerError, match=rf"no Ray at 127.0.0.1:{port}. Got .*Connection refused"):
        join(f"127.0.0.1:{port}")


def test_ray_gets_a_token_where_there_is_no_home_to_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(ray, "init", lambda *_, **__: None)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "")  # restored afterwards
    for home, expected in ((tmp_path / "home", False), (tmp_path / "file" / "home", True)):
        monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
        monkeypatch.setenv("HOME", str(home))
        start(n_cpus=2)
        assert ("RAY_AUTH_TOKEN" in os.environ) is expected
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    start(n_cpus=2)


def test_a_slow_start_is_tried_again_and_a_failed_one_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    results = iter([Exception("timed out during startup"), None, Exception("no"), Exception("raylet\ndied")])

    def init(*_: object, **__: object) -> None:
        if (error := next(results)) is not None:
            raise error

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    start(n_cpus=2)
    with pytest.raises(DisconerError, match=r"Ray could not be started on this machine. Got raylet. Try again"):
        start(n_cpus=2)
