"""Encoders of every family as folders on disk, each with the tokenizer of its own family, tiny and random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import pre_tokenizers
from transformers import (
    AlbertTokenizer,
    AutoConfig,
    AutoModel,
    BertTokenizer,
    DebertaTokenizer,
    DebertaV2Tokenizer,
    DistilBertTokenizer,
    ElectraTokenizer,
    MPNetTokenizer,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    XLMRobertaTokenizer,
)

from disconer.nn.encoders.transformer.pretrained import quiet
from nn.families import TINY

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:-()/%éï"
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MPNET = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
ALBERT = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
POSITIONS = 40  # subwords that each of them takes


def _word_pieces(special: list[str]) -> dict[str, int]:
    words = ["pain", "knee", "##s", "Pain"]
    subwords = [*special, *words, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    return {subword: number for number, subword in enumerate(dict.fromkeys(subwords))}


def _bytes(special: list[str]) -> dict[str, Any]:
    """Single bytes, and two merges."""
    subwords = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġp", "ee"]
    return {"vocab": {subword: number for number, subword in enumerate(subwords)}, "merges": [("Ġ", "p"), ("e", "e")]}


def _unigrams(special: list[str]) -> list[tuple[str, float]]:
    subwords = [*special, "▁", "▁pain", "▁knee", "s", *LETTERS]
    return [(subword, -float(number)) for number, subword in enumerate(dict.fromkeys(subwords))]


@dataclass(frozen=True)
class Family:
    """A type of model, what it needs beyond `TINY` to be tiny, and its tokenizer."""

    type: str
    tokenizer: Callable[[], PreTrainedTokenizerFast]
    settings: dict[str, Any]


_PLAIN = {"max_position_embeddings": POSITIONS, "pad_token_id": 0}
_AFTER_PADDING = {"max_position_embeddings": POSITIONS + 2, "pad_token_id": 1}  # positions count from the padding's id
_DISTIL = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
_RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}

FAMILIES = {
    "BERT, uncased": Family("bert", lambda: BertTokenizer(_word_pieces(BERT)), _PLAIN),
    "BERT, cased": Family("bert", lambda: BertTokenizer(_word_pieces(BERT), do_lower_case=False), _PLAIN),
    "DistilBERT": Family("distilbert", lambda: DistilBertTokenizer(_word_pieces(BERT)), _PLAIN | _DISTIL),
    "ELECTRA": Family("electra", lambda: ElectraTokenizer(_word_pieces(BERT)), _PLAIN | {"embedding_size": 16}),
    "MPNet": Family("mpnet", lambda: MPNetTokenizer(_word_pieces(MPNET)), _AFTER_PADDING),
    "RoBERTa": Family("roberta", lambda: RobertaTokenizer(**_bytes(ROBERTA)), _AFTER_PADDING),
    "DeBERTa": Family("deberta", lambda: DebertaTokenizer(**_bytes(BERT)), _PLAIN | _RELATIVE),
    "DeBERTa-v2": Family("deberta-v2", lambda: DebertaV2Tokenizer(_unigrams(BERT)), _PLAIN | _RELATIVE),
    "DeBERTa-v3": Family(
        "deberta-v2",
        lambda: DebertaV2Tokenizer(_unigrams(BERT), split_by_punct=True),
        _PLAIN | _RELATIVE | {"share_att_key": True, "position_buckets": 16, "norm_rel_ebd": "layer_norm"},
    ),
    "XLM-R": Family("xlm-roberta", lambda: XLMRobertaTokenizer(_unigrams(ROBERTA)), _AFTER_PADDING),
    "ALBERT": Family("albert", lambda: AlbertTokenizer(_unigrams(ALBERT)), _PLAIN | {"embedding_size": 16}),
    "ModernBERT": Family(
        "modernbert", lambda: RobertaTokenizer(**_bytes(ROBERTA)), _PLAIN | {"pad_token_id": 1, "local_attention": 8}
    ),
}


def publish(name: str, folder: Path) -> str:
    """The folder of a family's encoder, as the Hub gives it."""
    family = FAMILIES[name]
    torch.manual_seed(0)
    with quiet():
        config = AutoConfig.for_model(family.type, **TINY | family.settings)
        AutoModel.from_config(config).save_pretrained(folder)
        family.tokenizer().save_pretrained(folder)
    return str(folder)
