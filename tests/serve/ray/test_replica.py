"""A replica without Ray."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from disconer import DisconerError
from disconer.serve.problems import Problem
from disconer.serve.ray.replica import Replica, Settings, inspect_models
from disconer.serve.settings import Limits, Loading, RayPlan
from disconer.store.checkpoint import save_model
from nn.toy import letter_model, toy_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "letters"
    save_model(letter_model(), folder)
    return str(folder)


def settings_for(model: str) -> Settings:
    return Settings(models={"letters": model}, identities={"letters": "1"}, limits=Limits(texts=2), token="secret")


def test_it_keeps_to_its_settings(model: str) -> None:
    replica = Replica(settings_for(model))
    with TestClient(replica.__serve_build_asgi_app__()) as client:
        assert client.post("/v1/predict", json={"texts": ["p k"]}).status_code == 401
        client.headers["authorization"] = "Bearer secret"
        answer = client.post("/v1/predict", json={"texts": ["p k"]}).json()
        assert answer["model"] == "letters"
        assert answer["documents"][0]["entities"]
        assert client.post("/v1/predict", json={"texts": ["p", "k", "p"]}).status_code == 413
        replica.check_health()
    with pytest.raises(Problem, match="ending"):
        replica.check_health()


def test_it_splits_sentences_as_told(model: str) -> None:
    for splitter, n_entities in (("rules", 2), ("lines", 1)):
        replica = Replica(replace(settings_for(model), token=None, loading=Loading(splitter=splitter)))
        with TestClient(replica.__serve_build_asgi_app__()) as client:
            (document,) = client.post("/v1/predict", json={"texts": ["had p. Then had k."]}).json()["documents"]
        assert len(document["entities"]) == n_entities


def test_it_runs_models_as_told(model: str) -> None:
    """This one has no graphs: torch runs it, and ONNX Runtime refuses."""
    Replica(replace(settings_for(model), loading=Loading(runtime="torch")))
    with pytest.raises(DisconerError, match="ONNX"):
        Replica(replace(settings_for(model), loading=Loading(runtime="onnx")))


def test_other_settings_have_another_digest() -> None:
    settings = Settings(models={"a": "x", "b": "y"}, identities={"a": "1", "b": "2"}, limits=Limits())
    others = [
        replace(settings, models={"b": "y", "a": "x"}),  # another is the first
        replace(settings, identities={"a": "1", "b": "3"}),  # trained again
        replace(settings, limits=Limits(batch_texts=3)),
        replace(settings, token="secret"),
        replace(settings, loading=Loading(device="cpu")),
        replace(settings, loading=Loading(splitter="lines")),
        replace(settings, loading=Loading(runtime="torch")),
        replace(settings, loading=Loading(parser="none")),
    ]
    assert replace(settings, token=None).digest == settings.digest
    assert len({settings.digest, *(other.digest for other in others)}) == 1 + len(others)


def test_models_are_looked_at_before_they_are_served(model: str, tmp_path: Path) -> None:
    assert list(inspect_models({"letters": model})["identities"]) == ["letters"]
    missing = inspect_models({"letters": str(tmp_path)})["error"]
    assert str(tmp_path) in str(missing)


def test_the_parser_of_a_model_is_used_only_if_the_user_names_it(tmp_path: Path) -> None:
    save_model(toy_model(syntax={"parser": "corenlp:http://collector.example:9000", "gcn": {}}), tmp_path)
    settings = replace(settings_for(str(tmp_path)), token=None)
    with pytest.raises(DisconerError, match="sends every text to that address"):
        Replica(settings)
    assert "--parser" in str(inspect_models(settings.models)["error"])
    named = Loading(parser="none")
    assert list(inspect_models(settings.models, named)["identities"]) == ["letters"]
    with TestClient(Replica(replace(settings, loading=named)).__serve_build_asgi_app__()) as client:
        assert client.post("/v1/predict", json={"texts": ["some pain"]}).status_code == 200


def test_a_python_that_ray_serve_cannot_start_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'disconer[ray]'")
    from disconer.serve.ray.deployment import start_with_room

    monkeypatch.setattr(sys, "executable", "/opt/my tools/bin/python")
    with pytest.raises(DisconerError, match=r"its path contains a space. Got /opt/my tools/bin/python"):
        start_with_room(RayPlan())
