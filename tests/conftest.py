"""Shared by all tests: where the real corpora lie, if they are here, and that reading them is slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

DATA = Path(os.environ.get("DISCONER_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no corpora at {DATA}: set DISCONER_DATA to the folder that holds them")
    return DATA
