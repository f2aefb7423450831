"""Shared by all tests: where the real corpora lie, if they are here, that reading them is slow, and a full disk."""

from __future__ import annotations

import gc
import os
import platform
import resource
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# `ci` draws the same examples each time: the suite is green or red whatever the day, and a few are as good as many.
# `seeded` draws as many others (scripts/test --hypothesis-profile=seeded --hypothesis-seed=7), `random` more, for
# scripts/fuzz. What either finds becomes an explicit @example.
_ALIKE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=50, **_ALIKE)
settings.register_profile("seeded", derandomize=False, database=None, max_examples=50, print_blob=True, **_ALIKE)
settings.register_profile("random", derandomize=False, database=None, max_examples=300, print_blob=True, **_ALIKE)
settings.load_profile("ci")

DATA = Path(os.environ.get("DISCONER_DATA", Path(__file__).parents[2] / "shared" / "data"))


CPU_FEATURES = ("sse4_1", "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile")  # of which results may depend


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says the CPU: a test that fails on one machine alone often fails for what its CPU can or cannot do."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    known = {key.strip(): value for key, colon, value in (line.partition(":") for line in info.splitlines()) if colon}
    flags = known.get("flags", "").split()
    own = [feature for feature in CPU_FEATURES if feature in flags]
    name = known.get("model name", platform.machine()).strip()
    terminalreporter.write_line(f"cpu: {name}, {os.cpu_count()} cores; {', '.join(own) or 'features not known'}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """What is imported by now stays: the garbage collector need not look through all of torch again and again."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _operators_are_listed_once() -> Iterator[None]:
    """The exporter of torch lists all operators of ONNX again for each graph, which takes a sixth of its time."""
    if "torch" not in sys.modules:
        yield
        return
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ONNXRegistry, "from_torchlib", staticmethod(cache(ONNXRegistry.from_torchlib)))
        yield


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no corpora at {DATA}: set DISCONER_DATA to the folder that holds them")
    return DATA


@pytest.fixture
def small_disk() -> Iterator[int]:
    """No file may grow beyond this: writes fail in the same way as on a full disk."""
    size = 2**16
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    yield size
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
