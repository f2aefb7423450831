"""The whole network: words, then a head."""

from __future__ import annotations

from typing import Any, Generic

import torch
from torch import Tensor, nn

from disconer.nn.encoders.encoder import WordEncoder
from disconer.nn.heads.head import Head, Targets
from disconer.nn.layers.gcn import Aggcn
from disconer.nn.layers.lstm import BiLstm
from disconer.nn.tensors import WordBatch


class Words(nn.Module):
    """Everything up to word vectors: encoder, BiLSTM, and what syntax adds."""

    def __init__(
        self, *, encoder: WordEncoder, dropout: float, lstm: BiLstm | None = None, gcn: Aggcn | None = None
    ) -> None:
        super().__init__()
        self.encoder, self.lstm, self.gcn = encoder, lstm, gcn
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, d)"""
        words: Tensor = self.dropout(self.encoder(batch))
        if self.lstm is not None:
            words = self.dropout(self.lstm(words, batch.lengths))
        if self.gcn is not None:
            syntax = self.gcn(words, batch.heads, batch.parsed, batch.word_mask)
            words = torch.cat([words, syntax.to(words.dtype)], dim=-1)
        return words


class Network(nn.Module, Generic[Targets]):
    """Words under a head. Called, it gives the loss; `launch`, and then the head's `collect`, give entities."""

    def __init__(self, *, words: Words, head: Head[Any, Targets, Any]) -> None:
        super().__init__()
        self.words = words
        self.head = head

    def forward(self, batch: WordBatch, targets: Targets) -> Tensor:
        """The summed loss of a batch."""
        return self.head.loss(self.words(batch), batch, targets)

    def launch(self, batch: WordBatch) -> Any:
        """Put the work of finding entities on the device, without waiting for it."""
        return self.head.launch(self.words(batch), batch)

    def encoder_parameters(self) -> list[nn.Parameter]:
        """The pretrained parameters, which learn at a rate of their own."""
        return self.words.encoder.pretrained_parameters()

    def other_parameters(self) -> list[nn.Parameter]:
        pretrained = {id(parameter) for parameter in self.encoder_parameters()}
        return [parameter for parameter in self.parameters() if id(parameter) not in pretrained]


AnyNetwork = Network[Any]
