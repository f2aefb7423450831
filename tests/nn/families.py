"""Tiny tokenizers and encoders of several families, made on the spot: what disconer must be right for beside BERT."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

from nn.toy import toy_tokenizer

SOME_TEXT = [
    "pain and stiffness in my knees",
    "aspirin caused 5 mg/kg of naïve café 😀 痛み",
    "swollen (1.1.1.) hands",
] * 5
TINY = {"vocab_size": 400, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


@cache
def byte_level(*, trim_offsets: bool = True) -> PreTrainedTokenizerFast:
    """As RoBERTa has it: bytes merged, a space belongs to the word after it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=not trim_offsets, trim_offsets=trim_offsets)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SOME_TEXT, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=trim_offsets)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>")


@cache
def unigram() -> PreTrainedTokenizerFast:
    """As XLM-R and ALBERT have it, on text that its normaliser shortens and lengthens; nothing around a sentence."""
    tokenizer = Tokenizer(models.Unigram())
    shorter = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    tokenizer.normalizer = normalizers.Sequence([*shorter, normalizers.Replace("x", "times")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=100, special_tokens=["<unk>", "<pad>"], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(SOME_TEXT, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>")


TOKENIZERS = {
    "word pieces": toy_tokenizer,
    "byte level": byte_level,
    "byte level, spaces kept": lambda: byte_level(trim_offsets=False),
    "unigram": unigram,
}

# Model types of transformers, and what they need beyond `TINY` to be tiny. All have room for 40 subwords.
ENCODERS: dict[str, dict[str, Any]] = {
    "bert": {"max_position_embeddings": 40},
    "roberta": {"max_position_embeddings": 42, "pad_token_id": 1},
    "xlm-roberta": {"max_position_embeddings": 42, "pad_token_id": 1},
    "mpnet": {"max_position_embeddings": 42, "pad_token_id": 1},
    "electra": {"max_position_embeddings": 40, "embedding_size": 16},
    "albert": {"max_position_embeddings": 40, "embedding_size": 16},
    "distilbert": {"max_position_embeddings": 40, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    "deberta-v2": {"max_position_embeddings": 40, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "modernbert": {"max_position_embeddings": 40, "pad_token_id": 1},
}


def tiny_encoder(family: str) -> nn.Module:
    torch.manual_seed(0)
    config = AutoConfig.for_model(family, **TINY | ENCODERS[family])
    return AutoModel.from_config(config, dtype=torch.float32).eval()
