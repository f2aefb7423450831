from __future__ import annotations

from pathlib import Path

import pytest

from once import graphs_are_shared, trainings_make_no_graphs

__all__ = ["graphs_are_shared", "trainings_make_no_graphs"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCONER_CACHE", str(tmp_path_factory.getbasetemp() / Path("disconer-cache")))
