"""The LSTMs of ELMo: projected and clipped, both directions side by side."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor, nn

State: TypeAlias = tuple[Tensor, Tensor]  # words and cells after the last step.  Shape: (2, B, size), (2, B, cells)


class ProjectedBiLstm(nn.Module):
    """One layer: an LSTM that reads forwards, and another that reads what it is given backwards.

    What a step makes of its input does not depend on other steps, so it is computed for all of them at once; of the
    steps themselves only the product with the word before remains. The two directions share each product.
    """

    def __init__(self, *, size: int, cells: int, cell_clip: float | None, word_clip: float | None) -> None:
        super().__init__()
        self._cell_clip, self._word_clip = cell_clip, word_clip
        # Of each direction; the gates side by side: input, candidate, forget, output.
        self.from_input = nn.Parameter(torch.empty(2, size, 4 * cells))
        self.from_word = nn.Parameter(torch.empty(2, size, 4 * cells))
        self.bias = nn.Parameter(torch.empty(2, 4 * cells))
        self.projection = nn.Parameter(torch.empty(2, cells, size))

    def forward(self, inputs: Tensor, mask: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Read both directions in step, the backward one from its last word on: `backwards` turns it.

        inputs:  Shape: (2, B, P, size) -> the same
        mask: where there are words.  Shape: (B, P)
        state: what came before; None: nothing.
        """
        _, n_rows, n_steps, size = inputs.shape
        products = torch.einsum("dbps,dsg->pdbg", inputs, self.from_input) + self.bias[:, None]  # (P, 2, B, gates)
        words, cells = state or (
            inputs.new_zeros(2, n_rows, size),
            inputs.new_zeros(2, n_rows, self.projection.shape[1]),
        )
        read = []
        for step in range(n_steps):
            gates = torch.baddbmm(products[step], words, self.from_word)  # (2, B, 4 * cells)
            new_words, new_cells = self._step(gates, cells)
            here = mask[:, step, None]  # (B, 1): where a sentence has ended, its state stays
            words, cells = torch.where(here, new_words, words), torch.where(here, new_cells, cells)
            read.append(words)
        return torch.stack(read, dim=2), (words, cells)

    def _step(self, gates: Tensor, cells: Tensor) -> State:
        enter, candidate, forget, leave = gates.chunk(4, dim=-1)  # (2, B, cells) each
        cells = torch.sigmoid(forget) * cells + torch.sigmoid(enter) * torch.tanh(candidate)
        cells = _clipped(cells, self._cell_clip)
        words = torch.bmm(torch.sigmoid(leave) * torch.tanh(cells), self.projection)  # (2, B, size)
        return _clipped(words, self._word_clip), cells


def backwards(words: Tensor, mask: Tensor) -> Tensor:
    """Sentences from their last word to their first; padding stays where it is.  Shape: (B, P, size), (B, P)"""
    place = torch.arange(words.shape[1], device=words.device)
    turned = mask.sum(1, keepdim=True) - 1 - place  # (B, P)
    places = torch.where(mask, turned, place).unsqueeze(-1).expand_as(words)
    return words.gather(1, places)


def _clipped(values: Tensor, limit: float | None) -> Tensor:
    return values if limit is None else values.clamp(-limit, limit)
