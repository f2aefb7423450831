"""Which of several processes says what went wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from disconer import DisconerError
from disconer.cli import processes
from disconer.cli.processes import one_voice

CLOSED = "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:1709\nmore"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of a process, which take no time."""
    waited: list[float] = []
    monkeypatch.setattr(processes.time, "sleep", waited.append)
    return waited


def be(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", "3")


def test_the_first_speaks_at_once(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    be(0, monkeypatch)
    with pytest.raises(DisconerError, match=r"^No data\. Check\.$"), one_voice():
        raise DisconerError("No data", fix="Check.")
    assert not waits


def test_others_wait_and_give_their_name(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    be(2, monkeypatch)
    with pytest.raises(DisconerError, match=r"^In process 2 of 3 on \S+: No data\. Check\.$"), one_voice():
        raise DisconerError("No data", fix="Check.")
    assert waits == [processes.GRACE]


@pytest.mark.parametrize("rank", [0, 1])
def test_who_lost_another_waits(rank: int, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    be(rank, monkeypatch)
    said = r"another process of this run was lost.*closed by peer \[10\.0\.0\.7\]:1709\."
    with pytest.raises(DisconerError, match=said), one_voice():
        raise RuntimeError(CLOSED)
    assert waits == [processes.GRACE]


def test_other_errors_stay_what_they_are(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    be(1, monkeypatch)
    with pytest.raises(RuntimeError, match="shapes differ"), one_voice():
        raise RuntimeError("shapes differ")
    assert not waits


@pytest.mark.slow
@pytest.mark.parametrize(("n_processes", "said"), [(1, "said and said after"), (2, "said")])
def test_one_of_several_processes_ends_at_once_and_loses_no_word(n_processes: int, said: str) -> None:
    code = """if True:
        from disconer.cli.processes import end_process
        print("said", end="")
        end_process()
        print(" and said after")
    """
    environment = os.environ | {"WORLD_SIZE": str(n_processes)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == said
