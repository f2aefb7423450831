"""Extending an encoder's vocabulary: which words to add, and how."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import torch

from disconer.adapt.model import Pretrained
from disconer.core.errors import BadInput, DisconerError, Where

SHORTEST, RAREST = 3, 60  # minimum letters and frequency of a new word
SHOWN = 1_000_000  # words counted between progress updates

_WORD = re.compile(r"\b[^\W\d_]+\b")  # letters alone: "IL2" contains no such word


@dataclass(frozen=True, slots=True)
class Choice:
    """Words to add to the vocabulary.

    before, after: subwords per word in the text, without and with them; None if not counted.
    """

    words: list[str]
    before: float | None = None
    after: float | None = None


class Vocabulary:
    """Tokenises single words.

    tokenizer: a fast tokenizer of transformers; not modified.
    """

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.subwords = self._tokenizer.get_vocab(with_added_tokens=True)

    def normalized(self, word: str) -> str:
        """As the tokenizer normalises it, such as in lower case."""
        normalizer = self._tokenizer.normalizer
        return word if normalizer is None else str(normalizer.normalize_str(word))

    def broken_up(self, words: Sequence[str]) -> list[list[int]]:
        """The subword ids of each word; empty if the tokenizer splits it into several words."""
        encodings = self._tokenizer.encode_batch(list(words), add_special_tokens=False)
        return [encoding.ids if set(encoding.word_ids) == {0} else [] for encoding in encodings]


def count_words(texts: Iterable[str], vocabulary: Vocabulary, seen: Callable[[int], None]) -> Counter[str]:
    """The frequency of each word of letters alone, as normalised by the tokenizer.

    seen: called with the number of words so far.
    """
    as_written: Counter[str] = Counter()
    n_words = n_shown = 0
    for text in texts:
        found = _WORD.findall(text)
        as_written.update(found)
        n_words += len(found)
        if n_words - n_shown >= SHOWN:
            n_shown = n_words
            seen(n_words)
    counts: Counter[str] = Counter()  # normalised here, each once, which is much faster than normalising all text
    for word, n in as_written.items():
        counts[vocabulary.normalized(word)] += n
    return counts


def best_words(counts: Counter[str], vocabulary: Vocabulary, n: int) -> Choice:
    """The words that save the most subwords; ties are broken alphabetically."""
    words = [word for word in counts if word.isalpha()]
    n_subwords = dict(zip(words, map(len, vocabulary.broken_up(words)), strict=True))
    saved = {
        word: counts[word] * (n_subwords[word] - 1)
        for word in words
        if n_subwords[word] > 1 and len(word) >= SHORTEST and counts[word] >= RAREST
    }
    chosen = sorted(saved, key=lambda word: (-saved[word], word))[:n]
    n_words = max(1, sum(counts[word] for word in words))
    before = sum(counts[word] * n_subwords[word] for word in words)
    after = before - sum(saved[word] for word in chosen)
    return Choice(chosen, before / n_words, after / n_words)


def listed_words(path: Path, vocabulary: Vocabulary) -> Choice:
    """The words of a file, one per line; those already in the vocabulary are left out."""
    lines = list(enumerate(_lines(path), 1))
    words = {vocabulary.normalized(line.strip()): number for number, line in reversed(lines) if line.strip()}
    ordered = sorted(words, key=words.__getitem__)
    for word, subwords in zip(ordered, vocabulary.broken_up(ordered), strict=True):
        if not subwords:
            raise BadInput(
                "not-a-word",
                "This word cannot be added to the vocabulary: the tokenizer splits it before it looks up subwords",
                where=Where(str(path), words[word]),
                got=repr(word),
                expected="one word per line, without spaces and punctuation",
                fix="Remove the line, or list its parts on separate lines.",
            )
    return Choice([word for word in ordered if word not in vocabulary.subwords])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DisconerError(
            "This file of words cannot be read",
            where=Where(str(path)),
            got=getattr(error, "strerror", None) or str(error),
            expected="UTF-8 text with one word per line",
        ) from error


WORD_PIECES = "WordPiece"
DOUBT = 1.0  # a new word's bias is lower than that of its subwords: the word is rarer than each

_UNUSED = re.compile(r"\[unused\d+\]")  # unused entries of BERT's vocabularies


def check_vocabulary(tokenizer: Any, encoder: str) -> None:
    """Only WordPiece vocabularies can be extended: others build words from merges or probabilities."""
    kind = _description(tokenizer)["model"]["type"]
    if kind != WORD_PIECES:
        raise DisconerError(
            "This encoder's vocabulary cannot be extended",
            where=Where(encoder),
            got=f"a tokenizer of type {kind}",
            expected=f"{WORD_PIECES}, as BERT has",
            fix="Omit --words, or adapt another encoder.",
        )


def add_words(pretrained: Pretrained, words: Sequence[str]) -> Pretrained:
    """The encoder with a vocabulary entry for each word. Other words are tokenised as before.

    words: normalised, none of them in the vocabulary yet.
    """
    subwords = Vocabulary(pretrained.tokenizer).broken_up(words)
    numbers = _free_numbers(pretrained.tokenizer, len(words))
    tokenizer = _with_words(pretrained.tokenizer, dict(zip(words, numbers, strict=True)))
    _add_rows(pretrained, dict(zip(numbers, subwords, strict=True)))
    return replace(pretrained, tokenizer=tokenizer, n_new_words=len(words))


def _free_numbers(tokenizer: Any, n: int) -> list[int]:
    """The ids of unused entries, in order, then ids after the last entry."""
    vocabulary = tokenizer.get_vocab()
    unused = sorted(number for subword, number in vocabulary.items() if _UNUSED.fullmatch(subword))
    numbers: Iterator[int] = chain(unused, count(max(vocabulary.values()) + 1))
    return [next(numbers) for _ in range(n)]


def _with_words(tokenizer: Any, words: Mapping[str, int]) -> Any:
    """The tokenizer with words in the model's own vocabulary.

    They cannot be "added tokens" of the tokenizers library: those are matched in raw text, even within longer words.
    """
    description = _description(tokenizer)
    taken = set(words.values())
    vocabulary = {subword: number for subword, number in description["model"]["vocab"].items() if number not in taken}
    # Added tokens are numbered after the vocabulary unless they are in it: as it grows, they must be.
    vocabulary |= {token["content"]: token["id"] for token in description["added_tokens"]}
    description["model"]["vocab"] = vocabulary | dict(words)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        Path(folder, "tokenizer.json").write_text(json.dumps(description, ensure_ascii=False), "utf-8")
        Path(folder, "vocab.txt").unlink(missing_ok=True)  # the old one, if written at all
        return type(tokenizer).from_pretrained(folder, local_files_only=True)


def _description(tokenizer: Any) -> dict[str, Any]:
    """The content of tokenizer.json."""
    described: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    return described


@torch.no_grad()
def _add_rows(pretrained: Pretrained, subwords: Mapping[int, Sequence[int]]) -> None:
    """Initialise each new embedding as the mean of its former subwords.

    subwords: the former subword ids of each new id.
    """
    model = pretrained.language_model
    size = max(model.get_input_embeddings().num_embeddings, max(subwords, default=-1) + 1)
    old_tables, old_bias = [table.clone() for table in _tables(model)], _bias(model).clone()
    model.resize_token_embeddings(size, mean_resizing=False)
    bias = _bias(model)
    for number, parts in subwords.items():
        for table, old in zip(_tables(model), old_tables, strict=True):
            table[number] = old[parts].mean(0)
        if len(old_bias) and not pretrained.new_head:
            bias[number] = old_bias[parts].mean() - DOUBT


def _tables(model: Any) -> list[torch.Tensor]:
    """The embedding table, and the head's output table if it has its own."""
    table, guessing = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    return [table] if guessing is table else [table, guessing]


def _bias(model: Any) -> torch.Tensor:
    """The head's bias per subword; empty if there is none."""
    bias = model.get_output_embeddings().bias
    return torch.zeros(0) if bias is None else bias
