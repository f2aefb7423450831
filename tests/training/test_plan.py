from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.config import TrainingConfig
from disconer.training.plan import Plan

LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=60)


def plans(lengths: list[int], n_processes: int, **settings: int) -> list[Plan]:
    config = TrainingConfig(batch_tokens=64, epochs=2, patience=2, **settings)
    return [Plan(lengths, config, process=process, n_processes=n_processes) for process in range(n_processes)]


@given(LENGTHS, st.integers(1, 4), st.integers(1, 3))
def test_every_example_counts_once_whatever_the_processes(
    lengths: list[int], n_processes: int, accumulate: int
) -> None:
    shares = [plan.steps(1) for plan in plans(lengths, n_processes, accumulate=accumulate)]
    assert len({len(steps) for steps in shares}) == 1  # processes keep step
    batches = [batch for steps in shares for step in steps for batch in step]
    counted = Counter(example for batch in batches if batch.weight for example in batch.examples)
    assert counted == Counter(range(len(lengths)))
    for together in zip(*shares, strict=True):
        assert all(together)
        own = [batch for step in together for batch in step if batch.weight]
        # Each process sums its weighted losses, then all are averaged: that must be the mean over examples.
        assert sum(batch.weight * len(batch.examples) for batch in own) / n_processes == pytest.approx(1)


@given(LENGTHS, st.integers(1, 3))
def test_two_processes_take_what_one_accumulates(lengths: list[int], accumulate: int) -> None:
    (alone,) = plans(lengths, 1, accumulate=2 * accumulate)
    pair = plans(lengths, 2, accumulate=accumulate)
    for step, *shares in zip(alone.steps(1), *(plan.steps(1) for plan in pair), strict=True):
        taken = {(tuple(batch.examples), batch.seed) for share in shares for batch in share}
        assert taken == {(tuple(batch.examples), batch.seed) for batch in step}


@given(LENGTHS)
def test_batches_keep_to_the_budget_and_steps_are_counted(lengths: list[int]) -> None:
    (plan,) = plans(lengths, 1)
    for step in plan.steps(2):
        for batch in step:
            assert len(batch.examples) == 1 or max(lengths[e] for e in batch.examples) * len(batch.examples) <= 64
    assert plan.count_steps() == len(plan.steps(1)) + len(plan.steps(2))


def test_epochs_and_seeds_differ_and_repeat() -> None:
    lengths = list(range(1, 60))
    (plan,) = plans(lengths, 1)
    (again,) = plans(lengths, 1)
    (other,) = plans(lengths, 1, seed=2)
    assert plan.steps(1) == again.steps(1)
    assert plan.steps(1) != plan.steps(2)
    assert plan.steps(1) != other.steps(1)
    seeds = [batch.seed for epoch in (1, 2) for step in plan.steps(epoch) for batch in step]
    assert len(set(seeds)) == len(seeds)
