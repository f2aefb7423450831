from __future__ import annotations

import io
import os
import sys

import pytest

from disconer.training.display import Display
from disconer.training.state import Progress


def record(epoch: int, f1: float) -> dict[str, float]:
    return {"epoch": epoch, "loss": 2.5, "dev_f1": f1, "dev_f1_discontinuous": 0.25, "seconds": 1.5}


def show_three_epochs(display: Display) -> None:
    progress = Progress([record(1, 0.5)])
    with display.running(4, progress):
        for epoch, f1 in ((2, 0.75), (3, 0.6)):
            display.step(epoch, 7, 9, 3.25)
            display.measuring(epoch)
            progress.history.append(record(epoch, f1))
            display.epoch(progress)


def test_a_line_an_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    show_three_epochs(Display())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "resumed after epoch 1, best dev F1 50.00 (epoch 1)"
    assert lines[1].startswith("epoch   2  loss    2.500  dev F1 75.00  discontinuous 25.00     1.5 s")
    assert lines[1].endswith("left  best")
    assert lines[2].endswith("left")
    assert len(lines) == 3


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_a_cpu_has_threads_and_may_be_busy(
    device: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (10_000.0, 0.0, 0.0))
    Display().device(device, 2)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "device: cpu, 2 threads"
    assert second.startswith("warning: other programs keep this machine busy (load average 10000.0")


@pytest.mark.parametrize(("device", "said"), [("cpu", "device: cpu, 1 thread, bf16"), ("cuda", "device: cuda, bf16")])
def test_a_precision_other_than_fp32_is_said(device: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Display().device(device, 1, precision="bf16")
    assert capsys.readouterr().err.splitlines()[0] == said


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show_three_epochs(Display(quiet=True))
    assert capsys.readouterr().err == ""


def test_live_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    show_three_epochs(Display())
    shown = terminal.getvalue()
    assert "epoch 2, step 7/9, loss 3.250, best dev F1 50.00 (epoch 1)" in shown
    assert "epoch 3, measuring on dev, best dev F1 75.00 (epoch 2)" in shown
