"""Tables on terminals of any width."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest

from disconer.cli.console import show

COLUMNS = ["", "precision", "recall", "discontinuous F1"]
ROWS = [["reach=16", "99.91", "98.83", "96.79"], ["in sentences with gaps", "100.00", "100.00", "100.00"]]


Lines = Callable[[int], list[str]]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lines:
    """What a terminal of some width shows, without blanks and rules."""

    def shown(width: int) -> list[str]:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(width))
        show("oracle", COLUMNS, [ROWS])
        text = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
        assert all(len(line) <= width for line in text.splitlines())
        return [" ".join(line.split()) for line in text.splitlines() if re.search(r"\w", line)]

    return shown


def test_a_table_that_fits_is_one(lines: Lines) -> None:
    assert lines(80) == [
        "oracle",
        "precision recall discontinuous F1",
        "reach=16 99.91 98.83 96.79",
        "in sentences with gaps 100.00 100.00 100.00",
    ]


def test_names_wrap_first(lines: Lines) -> None:
    assert lines(56)[2:] == ["reach=16 99.91 98.83 96.79", "in sentences 100.00 100.00 100.00", "with gaps"]


def test_columns_that_do_not_fit_follow_below_with_their_names(lines: Lines) -> None:
    found = lines(40)
    assert found[:3] == ["oracle", "precision recall", "reach=16 99.91 98.83"]
    assert found[-4:] == ["discontinuous F1", "reach=16 96.79", "in sentences with 100.00", "gaps"]
