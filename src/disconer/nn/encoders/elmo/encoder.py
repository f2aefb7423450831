"""Word vectors from ELMo: a language model over letters in each direction, its layers mixed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from disconer.nn.encoders.elmo.letters import LetterWords
from disconer.nn.encoders.elmo.lstm import ProjectedBiLstm, State, backwards
from disconer.nn.encoders.elmo.options import ElmoOptions
from disconer.nn.encoders.encoder import WordEncoder
from disconer.nn.encoders.transformer.encoder import LayerMix
from disconer.nn.tensors import WordBatch


class BiLm(nn.Module):
    """The pretrained part. Nothing is remembered from one call to the next, unless the caller passes it on."""

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

        letters: of each word, the marks of the sentence included.  Shape: (B, P, MAX_LETTERS) -> (B, P, 2 * size) each
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
        return mixed[:, 1:-1]  # a piece is a word, between the marks of a sentence

    def pretrained_parameters(self) -> list[nn.Parameter]:
        return list(self.bilm.parameters())

    def description(self) -> dict[str, Any]:
        return asdict(self._options)
