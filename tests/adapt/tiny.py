"""Tiny encoders and texts, so that a run takes a second."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, PreTrainedTokenizerFast

from disconer.adapt import AdaptSettings
from nn.families import ENCODERS, TINY

WORDS = ["pain", "stiff", "ness", "in", "the", "knee", "hand", "of", "patient", "with"]
WORDS += ["severe", "mild", "renal", "hepatic", "failure", "after", "two", "week", "s"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
UNUSED = ["[unused0]", "[unused1]"]
FREE = [43, 44]  # their places


def tiny_tokenizer(*, mask: bool = True) -> PreTrainedTokenizerFast:
    """Word pieces: whole words, and `##` before those that go on with one."""
    vocabulary = [*SPECIAL, *WORDS, *(f"##{word}" for word in WORDS), *UNUSED]
    numbers = {subword: number for number, subword in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(16)  # as sentence encoders have it, and as must not cut texts here
    tokenizer.enable_padding(length=16)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, mask_token="[MASK]" if mask else None)


def tiny_encoder(folder: Path, family: str = "bert", *, head: bool = False, mask: bool = True, **more: Any) -> Path:
    """A folder with a random encoder, with or without a head that guesses subwords."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        family, **TINY | ENCODERS.get(family, {}) | {"vocab_size": 60, "pad_token_id": 0} | more
    )
    kind = AutoModelForMaskedLM if head else AutoModel
    kind.from_config(config).save_pretrained(folder)
    tiny_tokenizer(mask=mask).save_pretrained(folder)
    return folder


def notes(n: int, seed: int = 1) -> list[str]:
    """Texts in which each word says what comes next, so that there is something to learn."""
    rng = random.Random(seed)
    texts = []
    for _ in range(n):
        place = rng.randrange(len(WORDS))
        texts.append(" ".join(WORDS[(place + step) % len(WORDS)] for step in range(rng.randint(10, 60))))
    return texts


def write_notes(folder: Path, n: int = 40) -> Path:
    """A folder of .txt files."""
    folder.mkdir()
    for number, text in enumerate(notes(n)):
        (folder / f"{number:03}.txt").write_text(text)
    return folder


def quick(**more: Any) -> AdaptSettings:
    values: dict[str, Any] = {"steps": 60, "batch": 8, "length": 32, "rate": 5e-3, "held_out": 0.2, "at_once": 4}
    return AdaptSettings(**values | more)
