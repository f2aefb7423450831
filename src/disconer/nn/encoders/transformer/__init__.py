"""Word vectors from a pretrained transformer: finding and loading it, its subwords, its layers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disconer.config import EncoderConfig
from disconer.nn.encoders.encoding import Words
from disconer.nn.reader import Reader

if TYPE_CHECKING:
    from disconer.nn.encoders.encoder import Encoding


class TransformerKind:
    """See `EncoderKind`."""

    reads_context = True

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        from disconer.nn.encoders.transformer.encoder import load_transformer_encoding

        return load_transformer_encoding(config)

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        from disconer.nn.encoders.transformer.encoder import build_transformer_encoding

        return build_transformer_encoding(config, description, folder)

    def load_exported_reader(
        self, config: EncoderConfig, description: Mapping[str, Any], folder: Path, *, padding: int
    ) -> Reader:
        from disconer.nn.encoders.transformer.subwords import load_saved_tokenizer

        return load_saved_tokenizer(folder, description, padding=padding)


KIND = TransformerKind()
