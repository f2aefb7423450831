"""More words for an encoder: frequent ones that its tokenizer breaks up get a piece of their own."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import torch

from disconer.adapt.model import Pretrained
from disconer.adapt.words import Vocabulary
from disconer.core.errors import DisconerError, Where

WORD_PIECES = "WordPiece"
DOUBT = 1.0  # what a new word's bias is less than that of its parts: together they are rarer than each

_UNUSED = re.compile(r"\[unused\d+\]")  # pieces that BERT's vocabularies keep free


def check_vocabulary(tokenizer: Any, encoder: str) -> None:
    """Only vocabularies of word pieces can take a word in: others build words from merges or chances."""
    kind = _description(tokenizer)["model"]["type"]
    if kind != WORD_PIECES:
        raise DisconerError(
            "This encoder's vocabulary cannot be given more words",
            where=Where(encoder),
            got=f"a tokenizer of the kind {kind}",
            expected=f"{WORD_PIECES}, as the encoders of the kind of BERT have it",
            fix="Leave --words out, or adapt another encoder.",
        )


def add_words(pretrained: Pretrained, words: Sequence[str]) -> Pretrained:
    """The encoder with a piece for each word. What it makes of other words stays as it was.

    words: as the tokenizer writes them, none of them a piece yet.
    """
    pieces = Vocabulary(pretrained.tokenizer).broken_up(words)
    numbers = _free_numbers(pretrained.tokenizer, len(words))
    tokenizer = _with_words(pretrained.tokenizer, dict(zip(words, numbers, strict=True)))
    _add_rows(pretrained, dict(zip(numbers, pieces, strict=True)))
    return replace(pretrained, tokenizer=tokenizer, n_new_words=len(words))


def _free_numbers(tokenizer: Any, n: int) -> list[int]:
    """The places of pieces that stand for nothing, in order, then such as follow the last piece."""
    vocabulary = tokenizer.get_vocab()
    unused = sorted(number for piece, number in vocabulary.items() if _UNUSED.fullmatch(piece))
    numbers: Iterator[int] = chain(unused, count(max(vocabulary.values()) + 1))
    return [next(numbers) for _ in range(n)]


def _with_words(tokenizer: Any, words: Mapping[str, int]) -> Any:
    """The tokenizer with words in the model's own vocabulary.

    They cannot be what tokenizers calls added tokens: those are looked for in raw text, even within longer words.
    """
    description = _description(tokenizer)
    taken = set(words.values())
    vocabulary = {piece: number for piece, number in description["model"]["vocab"].items() if number not in taken}
    # Added tokens are numbered behind the vocabulary, unless they stand in it: as it grows, they must.
    vocabulary |= {token["content"]: token["id"] for token in description["added_tokens"]}
    description["model"]["vocab"] = vocabulary | dict(words)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        Path(folder, "tokenizer.json").write_text(json.dumps(description, ensure_ascii=False), "utf-8")
        Path(folder, "vocab.txt").unlink(missing_ok=True)  # the old one, where it is written at all
        return type(tokenizer).from_pretrained(folder, local_files_only=True)


def _description(tokenizer: Any) -> dict[str, Any]:
    """What tokenizer.json says."""
    described: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    return described


@torch.no_grad()
def _add_rows(pretrained: Pretrained, pieces: Mapping[int, Sequence[int]]) -> None:
    """Let each new piece begin as the mean of those that it stands for.

    pieces: of the new pieces' numbers, the old ones'.
    """
    model = pretrained.language_model
    size = max(model.get_input_embeddings().num_embeddings, max(pieces, default=-1) + 1)
    old_tables, old_bias = [table.clone() for table in _tables(model)], _bias(model).clone()
    model.resize_token_embeddings(size, mean_resizing=False)
    bias = _bias(model)
    for number, parts in pieces.items():
        for table, old in zip(_tables(model), old_tables, strict=True):
            table[number] = old[parts].mean(0)
        if len(old_bias) and not pretrained.new_head:
            bias[number] = old_bias[parts].mean() - DOUBT


def _tables(model: Any) -> list[torch.Tensor]:
    """The table of pieces, and that of the layer that guesses them, where this has one of its own."""
    table, guessing = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    return [table] if guessing is table else [table, guessing]


def _bias(model: Any) -> torch.Tensor:
    """Of the layer that guesses, by piece; empty if there is none."""
    bias = model.get_output_embeddings().bias
    return torch.zeros(0) if bias is None else bias
