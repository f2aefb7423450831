"""The whole network: words, then a head; and how a configuration makes one, which no other file knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

import torch
from torch import Tensor, nn

from disconer.config import Config, EncoderConfig, GcnConfig
from disconer.nn.encoders.encoder import WordEncoder
from disconer.nn.heads.head import Head, Targets
from disconer.nn.heads.kind import kind_of
from disconer.nn.layers.basic import BiLstm
from disconer.nn.layers.gcn import Aggcn
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


def build_network(config: Config, labels: Sequence[str], encoder: WordEncoder) -> AnyNetwork:
    """A network on an encoder, its other parts fresh."""
    if config.encoder.frozen:
        for parameter in encoder.pretrained_parameters():
            parameter.requires_grad_(False)
    words, size = _build_words(config, encoder)
    return Network(words=words, head=kind_of(config.head).build(config.head, labels, word_size=size))


def _build_words(config: Config, encoder: WordEncoder) -> tuple[Words, int]:
    lstm = _build_lstm(config.encoder, encoder.size)
    size = lstm.size if lstm else encoder.size
    gcn = _build_gcn(config.syntax.gcn, size) if config.syntax.gcn else None
    words = Words(encoder=encoder, dropout=config.encoder.dropout, lstm=lstm, gcn=gcn)
    return words, size + (config.syntax.gcn.size if config.syntax.gcn else 0)


def _build_lstm(config: EncoderConfig, input_size: int) -> BiLstm | None:
    if config.lstm is None:
        return None
    return BiLstm(input_size=input_size, size=config.lstm.size, layers=config.lstm.layers, dropout=config.lstm.dropout)


def _build_gcn(config: GcnConfig, size: int) -> Aggcn:
    return Aggcn(
        size=size,
        output_size=config.size,
        blocks=config.blocks,
        heads=config.heads,
        first_layers=config.first_layers,
        further_layers=config.further_layers,
        dropout=config.dropout,
    )
