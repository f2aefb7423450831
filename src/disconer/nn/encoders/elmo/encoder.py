"""Word vectors from ELMo: a character-based language model in each direction, its layers mixed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from disconer.nn.devices import WordBatch
from disconer.nn.encoders.elmo import ElmoOptions
from disconer.nn.interfaces import WordEncoder
from disconer.nn.layers import LayerMix

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class Highway(nn.Module):
    """A highway layer: a gate mixes its input with a transformation of it, element by element."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.gate = nn.Linear(size, size)

    def forward(self, words: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(words))
        return gate * torch.relu(self.transform(words)) + (1 - gate) * words


class LetterWords(nn.Module):
    """Convolutions over the characters of each word, highway layers, and a projection."""

    def __init__(self, options: ElmoOptions) -> None:
        super().__init__()
        self._activation = ACTIVATIONS[options.activation]
        size = sum(count for _, count in options.filters)
        self.letters = nn.Embedding(options.letters, options.letter_size, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(options.letter_size, count, width) for width, count in options.filters
        )
        self.highways = nn.Sequential(*(Highway(size) for _ in range(options.highways)))
        self.projection = nn.Linear(size, options.word_size)

    def forward(self, letters: Tensor) -> Tensor:
        """Shape: (B, P, MAX_LETTERS) -> (B, P, word_size)"""
        rows = self.letters(letters.flatten(0, 1)).transpose(1, 2)  # (B * P, letter_size, MAX_LETTERS)
        strongest = [self._activation(convolution(rows).amax(-1)) for convolution in self.convolutions]
        words: Tensor = self.projection(self.highways(torch.cat(strongest, dim=-1)))  # (B * P, word_size)
        return words.view(*letters.shape[:2], -1)


State: TypeAlias = tuple[Tensor, Tensor]  # words and cells after the last step.  Shape: (2, B, size), (2, B, cells)


class ProjectedBiLstm(nn.Module):
    """One layer: a forward and a backward LSTM.

    Input products do not depend on other steps, so they are computed for all steps at once; only the recurrent product
    is computed step by step, for both directions together.
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
        """Read both directions in parallel, the backward one from the last word: `backwards` reverses it.

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


class BiLm(nn.Module):
    """The pretrained part. It keeps no state between calls unless the caller passes it in."""

    def __init__(self, options: ElmoOptions) -> None:
        super().__init__()
        self._skip = options.skip
        self.words = LetterWords(options)
        self.lstms = nn.ModuleList(
            ProjectedBiLstm(
                size=options.word_size,
                cells=options.cells,
                cell_clip=options.cell_clip,
                word_clip=options.word_clip,
            )
            for _ in range(options.layers)
        )

    def forward(
        self, letters: Tensor, mask: Tensor, states: list[State] | None = None
    ) -> tuple[list[Tensor], list[State]]:
        """The layers, words first, and the state of each LSTM after the last step.

        letters: character ids of each word and sentence mark.  Shape: (B, P, MAX_LETTERS) -> (B, P, 2 * size) each
        mask:  Shape: (B, P)
        """
        words = self.words(letters)  # (B, P, size)
        layers, after = [torch.cat([words, words], dim=-1)], []
        read = torch.stack([words, backwards(words, mask)])  # (2, B, P, size)
        for number, lstm in enumerate(self.lstms):
            output, state = lstm(read, mask, states[number] if states else None)
            read = output + read if self._skip and number else output
            layers.append(torch.cat([read[0], backwards(read[1], mask)], dim=-1))
            after.append(state)
        return layers, after


class ElmoWords(WordEncoder):
    """Word vectors from a pretrained ELMo: a learned mix of its layers."""

    def __init__(self, *, options: ElmoOptions) -> None:
        super().__init__()
        self._options = options
        self.bilm = BiLm(options)
        self.mix = LayerMix(n_layers=options.layers + 1)

    @property
    def size(self) -> int:
        return 2 * self._options.word_size

    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, size)"""
        layers, _ = self.bilm(batch.piece_ids, batch.piece_mask.bool())
        mixed: Tensor = self.mix(tuple(layers))  # (B, P, size)
        return mixed[:, 1:-1]  # a subword is a word, between the marks of a sentence

    def pretrained_parameters(self) -> list[nn.Parameter]:
        return list(self.bilm.parameters())

    def description(self) -> dict[str, Any]:
        return asdict(self._options)
