"""Which sequences form each step, how they are divided among processes, masked, and moved to the device."""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
    subwords: input of a `Masker`: subword ids (B, L), their word numbers (B, L) for whole-word masking, and their cases
        (B, L) if the encoder reads them.
    """

    seed: int
    subwords: tuple[Tensor, Tensor | None, Tensor | None]


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


UNASKED = -100  # the target of unmasked positions: ignore_index of torch's cross entropy
AS_MASK, AS_RANDOM = 0.8, 0.1  # of the chosen subwords; the rest stay unchanged


class Masked(NamedTuple):
    """Masked sequences.

    inputs: (B, L) the encoder's input.
    places: (B, K) masked positions of each sequence.
    targets: (B, K) the original subwords; UNASKED at unused positions.
    cases: (B, L) the letter case of the original subwords, for encoders that read it.
    """

    inputs: Tensor
    places: Tensor
    targets: Tensor
    cases: Tensor | None = None


class Masker:
    """Masks the same number of positions in every sequence, so that all tensors keep their shapes.

    probability: that a subword is masked.
    special: tokens that are never masked.
    """

    def __init__(
        self, *, probability: float, mask: int, special: Collection[int], vocabulary: int, device: torch.device
    ):
        self._probability, self._mask = probability, mask
        is_special = torch.zeros(vocabulary, dtype=torch.bool)
        is_special[list(special)] = True
        self._is_special = is_special.to(device)
        self._ordinary = torch.nonzero(~is_special).flatten().to(device)

    def __call__(self, ids: Tensor, words: Tensor | None = None, cases: Tensor | None = None) -> Masked:
        """Mask subwords. Their letter case stays visible: it helps to predict them, and so is learned.

        words: (B, L) word number of each subword in its sequence; None: mask single subwords.
        cases: (B, L) of the subwords, if the encoder reads them.
        """
        n_places = max(1, round(self._probability * ids.shape[1]))
        scores = torch.rand(ids.shape, device=ids.device)  # (B, L)
        if words is not None:
            scores = scores.gather(1, words)  # subwords of a word share its score
        scores = scores.masked_fill(self._is_special[ids], -1.0)
        best, places = scores.topk(n_places + 1, dim=1)  # (B, K + 1)
        # A tie with the first position beyond the last is a word with more subwords than fit: it is not masked.
        is_used = (best[:, :-1] > best[:, -1:]) & (best[:, :-1] >= 0)  # (B, K)
        places = places[:, :-1]
        originals = ids.gather(1, places)
        replaced = torch.where(is_used, self._replacements(originals), originals)
        return Masked(ids.scatter(1, places, replaced), places, originals.masked_fill(~is_used, UNASKED), cases)

    def _replacements(self, originals: Tensor) -> Tensor:
        draws = torch.rand(originals.shape, device=originals.device)
        numbers = torch.randint(len(self._ordinary), originals.shape, device=originals.device)
        others = torch.where(draws < AS_MASK + AS_RANDOM, self._ordinary[numbers], originals)
        return torch.where(draws < AS_MASK, self._mask, others)
