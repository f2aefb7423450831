"""Which sequences form each step, how they are divided among processes, and how they reach the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from disconer.adapt.cache import Sequences


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences of one forward pass; `seed` controls all randomness in it."""

    sequences: NDArray[np.int64]
    seed: int


class Plan:
    """The steps of a run, as one process sees them.

    Epochs follow each other without a gap, each in its own random order, so that every step is full. The content and
    seeds of a step depend only on its number: a resumed run repeats what an uninterrupted one would do, and it does not
    matter which process takes a batch.

    batch: sequences per step; at_once: per batch. The batches of a step divide evenly among the processes.
    """

    def __init__(
        self, n_sequences: int, *, batch: int, at_once: int, seed: int, process: int = 0, n_processes: int = 1
    ):
        self._n_sequences, self._batch, self._at_once, self._seed = n_sequences, batch, at_once, seed
        self._process, self._n_processes = process, n_processes
        self._epoch, self._order = -1, np.zeros(0, np.int64)

    @property
    def batches_a_step(self) -> int:
        """Batches per step of this process."""
        return self._batch // self._at_once // self._n_processes

    def batches(self, first_step: int) -> Iterator[Batch]:
        """This process's batches from a step on, endlessly."""
        step = first_step
        while True:
            yield from self.step(step)
            step += 1

    def step(self, number: int) -> list[Batch]:
        """Steps are counted from 0."""
        parts = self._sequences(number).reshape(-1, self._at_once)
        seeds = np.random.SeedSequence((self._seed, number)).generate_state(len(parts), np.uint64).tolist()
        all_batches = [Batch(part, seed) for part, seed in zip(parts, seeds, strict=True)]
        return all_batches[self._process :: self._n_processes]

    def _sequences(self, step: int) -> NDArray[np.int64]:
        places = np.arange(step * self._batch, (step + 1) * self._batch)
        epochs, within = np.divmod(places, self._n_sequences)
        return np.concatenate([self._order_of(epoch)[within[epochs == epoch]] for epoch in np.unique(epochs).tolist()])

    def _order_of(self, epoch: int) -> NDArray[np.int64]:
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = np.random.default_rng((self._seed, epoch)).permutation(self._n_sequences)
        return self._order


class Fed(NamedTuple):
    """A batch on the device.

    seed: controls all randomness in it.
    pieces: input of a `Masker`: subword ids (B, L), their word numbers (B, L) for whole-word masking, and their cases
        (B, L) if the encoder reads them.
    """

    seed: int
    pieces: tuple[Tensor, Tensor | None, Tensor | None]


class Feed:
    """Makes the tensors of batches; may run in the background."""

    def __init__(self, sequences: Sequences, device: torch.device) -> None:
        self._sequences, self._device = sequences, device

    def __call__(self, batch: Batch) -> Fed:
        ids = self._sequences.ids(batch.sequences)
        words, cases = self._sequences.words(batch.sequences), self._sequences.cases(batch.sequences)
        moved_words, moved_cases = (None if array is None else self._moved(array) for array in (words, cases))
        return Fed(batch.seed, (self._moved(ids), moved_words, moved_cases))

    def _moved(self, array: NDArray[np.int32] | NDArray[np.uint8]) -> Tensor:
        """Indices must be 64-bit; they are widened on the device, so that less data is moved."""
        tensor = torch.from_numpy(array)
        if self._device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True).long()
