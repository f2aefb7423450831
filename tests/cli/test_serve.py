from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from disconer import DisconerError
from disconer.cli import app, serve
from disconer.predict.ray import plan
from disconer.serve.service import model_names
from disconer.serve.settings import Limits, Loading, RayPlan, Replicas


def run(*arguments: str) -> None:
    CliRunner().invoke(app, ["serve", *arguments], catch_exceptions=False)


def test_says_which_packages_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "NEEDED", ("fastapi", "surely_not_installed"))
    with pytest.raises(DisconerError, match=r"surely_not_installed.*pip install 'disconer\[serve\]'"):
        run("--model", "anything")


def test_options_become_limits_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(serve, "serve_models", lambda models, **settings: given.update(settings, models=models))
    monkeypatch.setenv("DISCONER_TOKEN", "from the environment")
    run("--model", "a", "--model", "b=c", "--max-body", "5", "--max-wait", "0", "--port", "0")
    assert given["models"] == ["a", "b=c"]
    assert given["token"] == "from the environment"
    assert (given["host"], given["port"]) == ("127.0.0.1", 0)
    assert given["limits"] == Limits(body_bytes=5, batch_seconds=0)
    run("--splitter", "lines", "--parser", "none", "--runtime", "onnx", "--device", "cpu")
    assert given["loading"] == Loading(splitter="lines", parser="none", runtime="onnx", device="cpu")


def test_a_port_that_is_taken_is_said_before_a_model_is_loaded() -> None:
    from disconer.serve.server import bound_socket

    with bound_socket("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(DisconerError, match=r"cannot listen on 127\.0\.0\.1 port"):
            run("--model", "no such model", "--port", str(taken.getsockname()[1]))


def test_names_of_models() -> None:
    assert model_names(["runs/chia/best", "./model/", "x=runs/phee"]) == {
        "chia": "runs/chia/best",
        "model": "./model/",
        "x": "runs/phee",
    }
    with pytest.raises(DisconerError, match=r"Two models have the same name 'chia'.*NAME=PATH"):
        model_names(["runs/chia/best", "old/chia"])


def test_limits_are_positive() -> None:
    with pytest.raises(DisconerError, match="texts must be more than 0"):
        run("--max-texts", "0")


def test_on_ray_with_and_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(serve, "serve_models_on_ray", lambda models, **settings: given.append(settings))
    run("--ray", "--model", "a")
    run("--model", "a", "--ray", "head:6379", "--replicas", "2-5", "--threads", "3", "--gpus", "0.5")
    assert [settings["address"] for settings in given] == ["local", "head:6379"]
    assert given[0]["plan"] == RayPlan()
    assert given[1]["plan"] == RayPlan(replicas=Replicas(2, 5), threads=3, gpus=0.5)


def test_no_replicas_are_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(serve, "end_service_on_ray", ended.append)
    run("--ray", "head:6379", "--replicas", "0")
    assert ended == ["head:6379"]


def test_replicas_without_ray_are_refused() -> None:
    with pytest.raises(DisconerError, match="Add --ray"):
        run("--model", "a", "--replicas", "2")


def test_says_that_ray_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "find_spec", lambda name: None)
    with pytest.raises(DisconerError, match=r"--ray needs .*: ray\. .*pip install 'disconer\[ray\]'"):
        run("--model", "a", "--ray")


@pytest.mark.slow
def test_other_commands_do_without_ray() -> None:
    command = "import sys, disconer.cli; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
