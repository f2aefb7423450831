"""Masking: which pieces are to be guessed, and what stands in their place. Made on the device, without a wait."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import torch
from torch import Tensor

UNASKED = -100  # the target where nothing is to be guessed, as torch's cross entropy has it
AS_MASK, AS_RANDOM = 0.8, 0.1  # of the pieces to be guessed; the others stay as they are


class Masked(NamedTuple):
    """Sequences with pieces to be guessed.

    inputs: (B, L) what the encoder reads.
    places: (B, K) where in its sequence something is to be guessed.
    targets: (B, K) what stood there; UNASKED at places that are not used after all.
    cases: (B, L) the case of what stood everywhere, for encoders that read it.
    """

    inputs: Tensor
    places: Tensor
    targets: Tensor
    cases: Tensor | None = None


class Masker:
    """Chooses the same number of places in every sequence, so that all tensors keep their shapes.

    share: of a sequence that is to be guessed.
    special: pieces that are never guessed.
    """

    def __init__(self, *, share: float, mask: int, special: Collection[int], vocabulary: int, device: torch.device):
        self._share, self._mask = share, mask
        is_special = torch.zeros(vocabulary, dtype=torch.bool)
        is_special[list(special)] = True
        self._is_special = is_special.to(device)
        self._ordinary = torch.nonzero(~is_special).flatten().to(device)

    def __call__(self, ids: Tensor, words: Tensor | None = None, cases: Tensor | None = None) -> Masked:
        """Mask pieces. Their case stays to be seen: it helps to guess them, and so is learnt.

        words: (B, L) number of each piece's word in its sequence; every piece is a word by itself if None.
        cases: (B, L) of the pieces, if the encoder reads them.
        """
        n_places = max(1, round(self._share * ids.shape[1]))
        scores = torch.rand(ids.shape, device=ids.device)  # (B, L)
        if words is not None:
            scores = scores.gather(1, words)  # pieces of a word share its score
        scores = scores.masked_fill(self._is_special[ids], -1.0)
        best, places = scores.topk(n_places + 1, dim=1)  # (B, K + 1)
        # What ties with the first place beyond the last is a word with more pieces than fit: it is left alone.
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
