"""Encodings of transformers: from what was pretrained, and from a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where
from disconer.core.files import CONFIG
from disconer.nn.encoders.encoder import Encoding
from disconer.nn.encoders.hub import first_line, quiet
from disconer.nn.encoders.transformer.case import reads_case
from disconer.nn.encoders.transformer.encoder import TransformerWords
from disconer.nn.encoders.transformer.pretrained import load_encoder, without_pooler
from disconer.nn.encoders.transformer.subwords import PieceTokenizer

TOKENIZER = "tokenizer.json"


def load_transformer_encoding(config: EncoderConfig) -> Encoding:
    """A pretrained transformer and its tokenizer."""
    transformer, tokenizer = load_encoder(config.name)
    words = _transformer_words(config, transformer)
    return Encoding(words, PieceTokenizer(tokenizer, case=words.reads_case))


def build_transformer_encoding(config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
    """What a model folder describes; the weights are random."""
    with quiet():
        transformer = _build_transformer(description, folder)
        return Encoding(_transformer_words(config, transformer), _load_tokenizer(folder, case=reads_case(description)))


def _transformer_words(config: EncoderConfig, transformer: torch.nn.Module) -> TransformerWords:
    return TransformerWords(transformer=transformer, layers=config.layers, pooling=config.pooling)


def _build_transformer(description: Mapping[str, Any], folder: Path) -> torch.nn.Module:
    from transformers import AutoConfig, AutoModel

    settings = {name: value for name, value in description.items() if name not in ("model_type", "auto_map")}
    try:
        config = AutoConfig.for_model(description["model_type"], **settings)
        transformer = AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)  # type: ignore[no-untyped-call]
    except Exception as error:  # each kind of encoder checks its settings in its own way
        raise DisconerError(
            "The encoder of this model cannot be built from its description",
            where=Where(str(folder / CONFIG)),
            got=first_line(error),
            fix="Copy the model again, or install the version of transformers that it was trained with.",
        ) from error
    return without_pooler(transformer)


def _load_tokenizer(folder: Path, *, case: bool) -> PieceTokenizer:
    from transformers import PreTrainedTokenizerFast

    try:
        return PieceTokenizer(PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True), case=case)
    except Exception as error:  # what the tokenizers library raises has no type of its own
        raise DisconerError(
            "The tokenizer of this model is missing or damaged",
            where=Where(str(folder / TOKENIZER)),
            got=first_line(error),
            fix="Copy the model again, whole.",
        ) from error
