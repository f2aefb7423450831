"""From a configuration to a network: the only place where the two meet."""

from __future__ import annotations

from collections.abc import Sequence

from disconer.config import Config, EncoderConfig, GcnConfig
from disconer.nn.encoders.encoder import WordEncoder
from disconer.nn.heads.kind import kind_of
from disconer.nn.layers.gcn import Aggcn
from disconer.nn.layers.lstm import BiLstm
from disconer.nn.network import AnyNetwork, Network, Words


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
