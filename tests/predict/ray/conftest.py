"""Shared by the tests of a prediction on Ray: its input, and everything in this process, without Ray."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer import write
from predict.stand_in import small_blocks


@pytest.fixture
def all_here(monkeypatch: pytest.MonkeyPatch) -> None:
    from predict.ray.here import without_ray  # imported here, as it needs Ray

    small_blocks(monkeypatch)
    without_ray(monkeypatch)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    from predict.ray.here import some_documents

    write(some_documents(), tmp_path / "in.jsonl")
    return tmp_path / "in.jsonl"
