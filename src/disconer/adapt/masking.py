"""Masked language modelling: which subwords are masked, and by what. Runs on the device, without synchronising."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import torch
from torch import Tensor

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

    share: the masking probability.
    special: tokens that are never masked.
    """

    def __init__(self, *, share: float, mask: int, special: Collection[int], vocabulary: int, device: torch.device):
        self._share, self._mask = share, mask
        is_special = torch.zeros(vocabulary, dtype=torch.bool)
        is_special[list(special)] = True
        self._is_special = is_special.to(device)
        self._ordinary = torch.nonzero(~is_special).flatten().to(device)

    def __call__(self, ids: Tensor, words: Tensor | None = None, cases: Tensor | None = None) -> Masked:
        """Mask subwords. Their letter case stays visible: it helps to predict them, and so is learned.

        words: (B, L) word number of each subword in its sequence; None: mask single subwords.
        cases: (B, L) of the subwords, if the encoder reads them.
        """
        n_places = max(1, round(self._share * ids.shape[1]))
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
        chance = torch.rand(originals.shape, device=originals.device)
        numbers = torch.randint(len(self._ordinary), originals.shape, device=originals.device)
        others = torch.where(chance < AS_MASK + AS_RANDOM, self._ordinary[numbers], originals)
        return torch.where(chance < AS_MASK, self._mask, others)
