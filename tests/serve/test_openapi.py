from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from serve.fakes import Running, running


def test_says_which_models_labels_and_sizes_there_are() -> None:
    with running(text_characters=1234, texts=56) as service:
        _, _, document = service.ask("GET", "/openapi.json")
    asked = document["components"]["schemas"]["PredictRequest"]["properties"]
    assert asked["model"]["anyOf"][0]["enum"] == ["words"]
    assert asked["labels"]["anyOf"][0]["items"]["enum"] == ["Condition", "Drug"]
    assert (asked["texts"]["maxItems"], asked["texts"]["items"]["maxLength"]) == (56, 1234)
    assert set(document["paths"]["/v1/predict"]["post"]["responses"]) >= {"200", "413", "422", "429", "503"}


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """Requests of all kinds, made from the document; answers must be what it says."""
    pytest.importorskip("schemathesis", reason="pip install schemathesis")
    with running(token="a-token") as service:
        found = _try(service, tmp_path)
    assert found.returncode == 0, "\n".join(line[:300] for line in found.stdout.splitlines())
    assert "Tested: 13" in found.stdout


def _try(service: Running, folder: Path) -> subprocess.CompletedProcess[str]:
    config = Path(__file__).with_name("schemathesis.toml")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    command += ["--phases", "examples,coverage,fuzzing", f"{service.url}/openapi.json"]
    command += ["-H", "Authorization: Bearer a-token"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=folder)
