from __future__ import annotations

from pathlib import Path

import pytest

from disconer.core import cores
from disconer.core.cores import has_vnni


@pytest.mark.parametrize(
    ("machine", "line", "expected"),
    [
        ("x86_64", "flags\t\t: fpu avx2 avx512_vnni", True),
        ("x86_64", "flags\t\t: fpu avx2 avx_vnni", True),
        ("aarch64", "Features\t: fp asimd asimddp", True),
        ("x86_64", "flags\t\t: fpu avx2", False),
        ("x86_64", "Features\t: fp asimd asimddp", False),  # emulated: sums would overflow
        ("x86_64", "model name\t: avx512_vnni", False),
        ("riscv64", "flags\t\t: avx512_vnni", False),
    ],
)
def test_what_a_processor_can_do(
    machine: str, line: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\n{line}\n")
    monkeypatch.setattr(cores, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(cores.platform, "machine", lambda: machine)
    assert has_vnni.__wrapped__() is expected
    monkeypatch.setattr(cores, "CPUINFO", tmp_path / "none")
    assert has_vnni.__wrapped__() is False
