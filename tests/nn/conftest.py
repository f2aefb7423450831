from __future__ import annotations

from pathlib import Path

import pytest

from once import trainings_make_no_graphs

__all__ = ["trainings_make_no_graphs"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCONER_CACHE", str(tmp_path_factory.getbasetemp() / Path("disconer-cache")))
