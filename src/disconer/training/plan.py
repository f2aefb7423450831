"""The plan of a run: the examples of each step, and how they are divided among processes."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from disconer.config import TrainingConfig
from disconer.nn.windows import passages, shuffled_batches
from disconer.training.examples import Example

PASS_SEEDS = 100_003  # separates the seeds of one run's passes from those of another


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples that go through the network together.

    passages: indices of examples, grouped by what the encoder reads together.
    seed: of all randomness in it. It depends only on the batch's position in the plan, so that dropout does not
        depend on the process that takes the batch or on whether the run was resumed.
    weight: factor of its summed loss, such that gradients averaged over processes are those of the mean loss per
        example. 0 for a dummy batch of a process that has none of its own.
    """

    passages: list[list[int]]
    seed: int
    weight: float

    @property
    def examples(self) -> list[int]:
        return [number for passage in self.passages for number in passage]


Step = list[Batch]  # one process's batches of an optimizer step


class Plan:
    """The steps of each epoch, as one process sees them.

    passes: over the data in each epoch, as many as `steps_at_least` requires. They are numbered across epochs, from
        1, and seeded by their number: three passes of one epoch equal three epochs of one pass.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        settings: TrainingConfig,
        *,
        context: int = 0,
        process: int = 0,
        n_processes: int = 1,
    ) -> None:
        self._words = [len(example.window) for example in examples]
        self._pieces = [len(example.window.pieces.ids) for example in examples]
        by_document = groupby(range(len(examples)), lambda number: examples[number].document)
        self._documents = [list(own) for _, own in by_document]
        self._settings, self._context = settings, context
        self._process, self._n_processes = process, n_processes
        self._batches_a_step = settings.accumulate * n_processes
        self.passes = self._passes_an_epoch()

    def steps(self, epoch: int) -> list[Step]:
        """All steps of an epoch, counted from 1."""
        before = (epoch - 1) * self.passes
        own = range(before + 1, before + self.passes + 1)
        return [step for pass_number in own for step in self._steps_of_pass(pass_number)]

    def count_steps(self) -> int:
        """Steps of all epochs."""
        return sum(map(self._count_steps_of_pass, range(1, self._settings.epochs * self.passes + 1)))

    def _passes_an_epoch(self) -> int:
        n_steps, wanted = 0, self._settings.steps_at_least
        for n_passes in range(1, wanted + 1):  # each has a step at least
            n_steps += self._count_steps_of_pass(n_passes)
            if n_steps >= wanted:
                return math.ceil(n_passes / self._settings.epochs)
        return 1

    def _steps_of_pass(self, pass_number: int) -> list[Step]:
        batches = self._batches(pass_number)
        source = np.random.SeedSequence((self._settings.seed, pass_number))
        seeds = source.generate_state(len(batches), np.uint64).tolist()
        numbers = range(len(batches))
        size = self._batches_a_step
        groups = [numbers[first : first + size] for first in range(0, len(batches), size)]
        return [self._step(group, batches, seeds) for group in groups]

    def _count_steps_of_pass(self, pass_number: int) -> int:
        return math.ceil(len(self._batches(pass_number)) / self._batches_a_step)

    def _batches(self, pass_number: int) -> list[list[list[int]]]:
        seed = self._settings.seed * PASS_SEEDS + pass_number
        cut = self._passages(seed)
        lengths = [sum(self._words[number] for number in passage) for passage in cut]
        plan = shuffled_batches(lengths, self._settings.batch_tokens, seed)
        return [[cut[number] for number in batch] for batch in plan]

    def _passages(self, seed: int) -> list[list[int]]:
        """Passages differ in every pass: a sentence is seen with much context, with little, and sometimes alone."""
        chance = random.Random(seed)
        found = []
        for document in self._documents:
            most = round(self._context * chance.random())
            cut = passages([self._pieces[number] for number in document], most)
            found += [[document[place] for place in passage] for passage in cut]
        return found

    def _step(self, group: range, batches: list[list[list[int]]], seeds: list[int]) -> Step:
        own = group[self._process :: self._n_processes]
        weight = self._n_processes / sum(len(passage) for number in group for passage in batches[number])
        if not own:
            return [Batch(batches[group[0]], seeds[group[0]], 0.0)]
        return [Batch(batches[number], seeds[number], weight) for number in own]
