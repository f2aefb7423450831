"""Which words are to get a piece of their own: those that a tokenizer breaks up most often, or those of a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.core.errors import BadInput, DisconerError, Where

SHORTEST, RAREST = 3, 60  # letters of a word, and how often it must be seen
SHOWN = 1_000_000  # words that are counted between two looks

_WORD = re.compile(r"\b[^\W\d_]+\b")  # letters alone: no part of "IL2" is a word


@dataclass(frozen=True, slots=True)
class Choice:
    """Words for pieces of their own.

    before, after: pieces a word of letters in the text, without and with them; None where nobody counted.
    """

    words: list[str]
    before: float | None = None
    after: float | None = None


class Vocabulary:
    """What a tokenizer makes of single words.

    tokenizer: a fast one of transformers; it is left as it is.
    """

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.pieces = self._tokenizer.get_vocab(with_added_tokens=True)

    def normalized(self, word: str) -> str:
        """As the tokenizer writes it, such as in lower case."""
        normalizer = self._tokenizer.normalizer
        return word if normalizer is None else str(normalizer.normalize_str(word))

    def broken_up(self, words: Sequence[str]) -> list[list[int]]:
        """The numbers of each word's pieces; none where the tokenizer takes it for several words."""
        encodings = self._tokenizer.encode_batch(list(words), add_special_tokens=False)
        return [encoding.ids if set(encoding.word_ids) == {0} else [] for encoding in encodings]


def count_words(texts: Iterable[str], vocabulary: Vocabulary, seen: Callable[[int], None]) -> Counter[str]:
    """How often there is each word of letters alone, as the tokenizer writes it.

    seen: told how many words there are so far.
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
    for word, count in as_written.items():
        counts[vocabulary.normalized(word)] += count
    return counts


def best_words(counts: Counter[str], vocabulary: Vocabulary, n: int) -> Choice:
    """The words that save most pieces; among equals, the first by the alphabet."""
    words = [word for word in counts if word.isalpha()]
    n_pieces = dict(zip(words, map(len, vocabulary.broken_up(words)), strict=True))
    saved = {
        word: counts[word] * (n_pieces[word] - 1)
        for word in words
        if n_pieces[word] > 1 and len(word) >= SHORTEST and counts[word] >= RAREST
    }
    chosen = sorted(saved, key=lambda word: (-saved[word], word))[:n]
    n_words = max(1, sum(counts[word] for word in words))
    before = sum(counts[word] * n_pieces[word] for word in words)
    after = before - sum(saved[word] for word in chosen)
    return Choice(chosen, before / n_words, after / n_words)


def listed_words(path: Path, vocabulary: Vocabulary) -> Choice:
    """The words of a file, one a line; those that are pieces already are left out."""
    lines = list(enumerate(_lines(path), 1))
    words = {vocabulary.normalized(line.strip()): number for number, line in reversed(lines) if line.strip()}
    ordered = sorted(words, key=words.__getitem__)
    for word, pieces in zip(ordered, vocabulary.broken_up(ordered), strict=True):
        if not pieces:
            raise BadInput(
                "not-a-word",
                "This is no word that could have a piece of its own: the tokenizer parts it before it looks for pieces",
                where=Where(str(path), words[word]),
                got=repr(word),
                expected="one word a line, without spaces and punctuation",
                fix="Take the line out, or give its parts lines of their own.",
            )
    return Choice([word for word in ordered if word not in vocabulary.pieces])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DisconerError(
            "This file of words cannot be read",
            where=Where(str(path)),
            got=getattr(error, "strerror", None) or str(error),
            expected="UTF-8 text with one word a line",
        ) from error
