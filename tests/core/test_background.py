from __future__ import annotations

import threading
import time

import pytest

from disconer.core.background import made_ahead


def test_order_is_kept() -> None:
    assert list(made_ahead(lambda job: 2 * job, range(100))) == [2 * job for job in range(100)]
    assert list(made_ahead(lambda job: job, [])) == []


def test_work_is_done_before_it_is_asked_for_but_not_all_of_it() -> None:
    made: list[int] = []
    stream = made_ahead(made.append, range(50), ahead=3)
    next(stream)
    deadline = time.monotonic() + 60
    while len(made) < 4 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert made == [0, 1, 2, 3]


def test_errors_come_at_their_place_and_the_thread_ends() -> None:
    def make(job: int) -> int:
        if job == 5:
            raise ValueError("the fifth")
        return job

    before = threads()
    stream = made_ahead(make, range(100))
    assert [next(stream) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="the fifth"):
        next(stream)
    assert threads() <= before


def test_the_thread_ends_with_its_reader() -> None:
    before = threads()
    stream = made_ahead(lambda job: job, range(1000))
    assert next(stream) == 0
    assert threads() > before
    stream.close()
    assert threads() <= before


def threads() -> set[threading.Thread]:
    return set(threading.enumerate())
