from __future__ import annotations

import pytest

from disconer.bench.timing import Job, Ratio, Timing, in_turns, make_clock


class FakeTime:
    """Time that passes only while jobs run, and a diary of them."""

    def __init__(self) -> None:
        self.now = 100.0
        self.diary: list[str] = []

    def clock(self) -> float:
        return self.now

    def job(self, name: str, *seconds: float) -> Job:
        """A job that takes these times, one after another and over again."""
        turns = iter(seconds * 100)

        def run() -> None:
            self.diary.append(name)
            self.now += next(turns)

        return run


def test_jobs_run_in_turns_piece_by_piece() -> None:
    time = FakeTime()
    jobs = {"a": [time.job("a1", 1), time.job("a2", 1)], "b": [time.job("b1", 1), time.job("b2", 1)]}
    in_turns(jobs, repeats=1, clock=time.clock, warmup=1)
    assert time.diary == ["a1", "b1", "a2", "b2"] * 2


def test_a_round_is_the_sum_of_its_pieces_and_warming_up_is_not_counted() -> None:
    time = FakeTime()
    jobs = {"a": [time.job("a1", 90, 1, 3, 2), time.job("a2", 70, 0.5, 0.5, 0.5)], "b": [time.job("b", 4)] * 2}
    found = in_turns(jobs, repeats=3, clock=time.clock)
    assert found == {"a": Timing((1.5, 3.5, 2.5)), "b": Timing((8.0, 8.0, 8.0))}
    assert found["a"].median == 2.5


def test_jobs_of_unlike_length_are_refused() -> None:
    time = FakeTime()
    with pytest.raises(ValueError, match="shorter"):
        in_turns({"a": [time.job("a", 1)], "b": []}, repeats=1, clock=time.clock)


def test_the_ratio_is_that_of_medians_with_the_rounds_spread() -> None:
    ratio = Ratio.of(Timing((1.0, 3.0, 2.0)), Timing((4.0, 4.0, 5.0)))
    assert ratio == Ratio(0.5, 0.25, 0.75)
    assert str(ratio) == "0.50 (0.25 to 0.75)"


def test_drift_leaves_the_ratio_alone() -> None:
    """A machine that gets four times slower while it is measured."""
    time = FakeTime()
    jobs = {"a": [time.job("a", 1, 1, 2, 3, 4)], "b": [time.job("b", 2, 2, 4, 6, 8)]}
    found = in_turns(jobs, repeats=4, clock=time.clock)
    assert Ratio.of(found["a"], found["b"]) == Ratio(0.5, 0.5, 0.5)


def test_the_clock_waits_for_the_device() -> None:
    waited = []
    clock = make_clock("wall", lambda: waited.append(True))
    assert clock() <= clock()
    assert len(waited) == 2
