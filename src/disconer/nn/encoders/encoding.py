"""Encoders with their readers: from what was pretrained, and from what a model folder keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from disconer.config import EncoderConfig
from disconer.nn.encoders.encoder import Encoding

# Each kind is imported where it is asked for: a model of word vectors never loads transformers.


def load_encoding(config: EncoderConfig, words: Callable[[], Iterable[str]] = tuple) -> Encoding:
    """What was pretrained, for texts with these words."""
    if config.kind == "vectors":
        from disconer.nn.encoders.vectors.encoding import load_vector_encoding

        return load_vector_encoding(config, words())
    if config.kind == "elmo":
        from disconer.nn.encoders.elmo.encoding import load_elmo_encoding

        return load_elmo_encoding(config)
    from disconer.nn.encoders.transformer.encoding import load_transformer_encoding

    return load_transformer_encoding(config)


def build_encoding(config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
    """What a model folder describes; the weights of the encoder are still to be loaded."""
    if config.kind == "vectors":
        from disconer.nn.encoders.vectors.encoding import build_vector_encoding

        return build_vector_encoding(config, description, folder)
    if config.kind == "elmo":
        from disconer.nn.encoders.elmo.encoding import build_elmo_encoding

        return build_elmo_encoding(description, folder)
    from disconer.nn.encoders.transformer.encoding import build_transformer_encoding

    return build_transformer_encoding(config, description, folder)
