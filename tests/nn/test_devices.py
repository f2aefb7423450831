"""A device or precision that is asked for and not there is one sentence; threads follow the cores of this process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from disconer import DisconerError
from disconer.core import cores
from disconer.nn.devices import cpu_trains_in, usable_device
from disconer.predict.recognizer import Recognizer
from disconer.runs.processes import build_accelerator
from disconer.store.checkpoint import save_model
from nn.toy import letter_model


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="there is a GPU here")
@pytest.mark.parametrize("device", ["cuda", "cuda:1", "gpu", "cuda:x", "mps", "meta"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(
        DisconerError, match=rf"no device '{device}' that torch can use.*[Ee]xpected one of cpu"
    ) as caught:
        Recognizer(letter_model(), device=device)
    assert len(str(caught.value)) < 250


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_the_command_says_it_in_one_paragraph(tmp_path: Path) -> None:
    save_model(letter_model(), tmp_path / "model")
    command = ["predict", "--text", "p", "--model", str(tmp_path / "model"), "--device", "cuda"]
    done = subprocess.run([sys.executable, "-m", "disconer", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: This machine has no device 'cuda'")
    assert done.stderr.count("\n") == 1


def test_the_best_device_is_there() -> None:
    assert usable_device().type in ("cpu", "cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
@pytest.mark.parametrize(
    ("instructions", "has_kernels", "chosen"),
    [
        ({"avx512_bf16": True}, True, "bf16"),
        ({"amx_bf16": True, "avx512_bf16": False}, True, "bf16"),
        ({"avx512_bf16": True}, False, "no"),  # as when oneDNN is held to AVX2
        ({"avx512_bf16": False, "amx_bf16": False}, True, "no"),
        ({}, True, "no"),
    ],
)
def test_auto_takes_bf16_where_the_cpu_has_instructions_for_it(
    instructions: dict[str, bool], has_kernels: bool, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions, raising=False)
    monkeypatch.setattr("disconer.nn.devices.cpu_trains_in", lambda precision: has_kernels)
    assert build_accelerator("auto").mixed_precision == chosen


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_auto_with_a_torch_that_does_not_know_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert build_accelerator("auto").mixed_precision == "no"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_a_precision_that_the_cpu_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on CPUs without AVX512."""

    def lacking(*given: object, **named: object) -> None:
        raise RuntimeError("could not create a primitive descriptor for the LSTM forward propagation primitive")

    monkeypatch.setattr(torch.nn.LSTM, "forward", lacking)
    assert not cpu_trains_in(torch.bfloat16)
    with pytest.raises(DisconerError, match=r"This machine's CPU cannot train with precision bf16\. Use auto"):
        build_accelerator("bf16")


@pytest.mark.parametrize(
    ("content", "expected"), [("max 100000", 8), ("150000 100000", 1), ("400000 100000", 4), ("50000 100000", 1)]
)
def test_cores_are_those_of_the_control_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, expected: int
) -> None:
    (tmp_path / "cpu.max").write_text(content + "\n")
    monkeypatch.setattr(cores, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert cores.usable_cores() == expected


def test_cores_of_the_first_version_of_control_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    monkeypatch.setattr(cores, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert cores.usable_cores() == 2
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert cores.usable_cores() == 8


def test_the_user_s_number_of_threads_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    assert cores.chosen_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert cores.chosen_threads() == cores.usable_cores()


def test_a_busy_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0, 9.0, 9.0))
    assert "load average 9.0, 8 cores" in str(cores.busy_warning(8))
    assert cores.busy_warning(1) is None
    monkeypatch.setattr(os, "getloadavg", lambda: (0.3, 9.0, 9.0))
    assert cores.busy_warning(8) is None
