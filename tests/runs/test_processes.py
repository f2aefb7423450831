"""Processes that meet, played by threads with a store in memory."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from torch.distributed import HashStore

from disconer import DisconerError
from disconer.runs.processes import agree_on_start

PATIENCE = timedelta(seconds=20)
SOON = timedelta(seconds=0.2)


def start(store: HashStore, n_processes: int) -> set[str]:
    ranks = random.Random(n_processes).sample(range(n_processes), n_processes)  # they come in any order
    with ThreadPoolExecutor(n_processes) as pool:
        return set(pool.map(lambda rank: agree_on_start(store, rank, n_processes, PATIENCE), ranks))


@pytest.mark.parametrize("n_processes", [1, 2, 5])
def test_each_start_has_a_name_of_its_own(n_processes: int) -> None:
    store = HashStore()
    names = [start(store, n_processes) for _ in range(3)]
    assert all(len(name) == 1 for name in names)
    assert len(set.union(*names)) == 3


def test_who_died_before_meeting_is_forgotten() -> None:
    store = HashStore()
    for rank in (0, 1):  # each comes alone, and gives up
        with pytest.raises(DisconerError, match="did not join"):
            agree_on_start(store, rank, 3, SOON)
    assert len(start(store, 3)) == 1
