"""What is shown of a run on stderr, and its remaining time."""

from __future__ import annotations

import io
import sys

import pytest

from disconer.core.progress import Clock, LiveLines


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fail_within_a_bar(lines: LiveLines) -> None:
    with lines.bar(10, 0):
        assert lines.is_live
        raise ValueError("failed")


def test_a_bar_ends_with_what_it_is_about_even_if_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    lines = LiveLines()
    with pytest.raises(ValueError, match="failed"):
        fail_within_a_bar(lines)
    assert not lines.is_live
    shown = len(terminal.getvalue())
    lines.draw(5, "a line without a bar")
    lines.say("a line that stays")
    assert terminal.getvalue()[shown:] == "a line that stays\n"


def test_time_left_is_of_the_epochs_of_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    clock = Clock(n_epochs=10, n_done=4)
    now = 160.0
    assert clock.left(6) == pytest.approx(120)
    assert clock.left(10) == 0
