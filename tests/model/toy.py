"""Small models for tests: a random BERT of a few units over a toy vocabulary, so that nothing is downloaded."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from disconer.config import Config
from disconer.model.build import build_network
from disconer.model.checkpoint import Model
from disconer.model.pieces import PieceTokenizer
from disconer.model.resolve import without_pooler

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def toy_tokenizer() -> PreTrainedTokenizerFast:
    """Word pieces over single letters and digits: every word is as many pieces as it has characters."""
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789.,;:-()"
    vocabulary = [*SPECIAL, *alphabet, *(f"##{character}" for character in alphabet)]
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def toy_bert(*, size: int = 32, layers: int = 2, positions: int = 64) -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=100,
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * size,
        max_position_embeddings=positions,
    )
    return BertModel(config)


def toy_config(**sections: Any) -> Config:
    return Config.model_validate({"data": {"train": "train.jsonl", "dev": "dev.jsonl"}} | sections)


def toy_model(labels: tuple[str, ...] = ("ADR", "Drug"), *, positions: int = 64, **sections: Any) -> Model:
    config = toy_config(**sections)
    network = build_network(config, labels, without_pooler(toy_bert(positions=positions)))
    network.eval()
    return Model(network, PieceTokenizer(toy_tokenizer()), config, labels)
