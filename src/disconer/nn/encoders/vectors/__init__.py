"""Word vectors from files: their kind, and their reader, which knows a word by its row in a table and by its spelling.

No torch in this folder but in `encoder`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import replace_file
from disconer.core.sentence import Sentence
from disconer.nn.encoders import Words
from disconer.nn.encoders.vectors.table import variants
from disconer.nn.reader import Ints, Reader, Subwords

if TYPE_CHECKING:
    from disconer.nn.interfaces import Encoding


NO_BYTE, BEGIN, END = 0, 257, 258  # bytes are 1 to 256
N_SYMBOLS = 259
MAX_BYTES = 30  # of a word; longer ones are truncated
COLUMNS = MAX_BYTES + 2  # with the marks of beginning and end


def spelling(word: str) -> Ints:
    """The bytes of a word between two marks, padded.  Shape: (COLUMNS,)"""
    numbers = np.zeros(COLUMNS, dtype=np.int64)
    letters = np.frombuffer(word.encode("utf-8", "surrogatepass")[:MAX_BYTES], dtype=np.uint8)
    numbers[0] = BEGIN
    numbers[1 : len(letters) + 1] = letters + np.int64(1)
    numbers[len(letters) + 1] = END
    return numbers


WORDS = "words.json"
PADDING, UNKNOWN = 0, 1  # rows of the table before those of words
N_SPECIAL = 2

_REMEMBERED = 2**16  # words in the cache: most words of a text are repeated


class WordReader:
    """Looks words up, by their variants if necessary.

    words: those of the table, row by row. spelled: whether to read the spelling of each word as well.
    """

    padding = PADDING

    def __init__(self, words: Sequence[str], *, spelled: bool) -> None:
        self.words = words
        self._rows = {word: row for row, word in enumerate(words, N_SPECIAL)}
        self._spelled = spelled
        self._numbers = lru_cache(_REMEMBERED)(self._look_up)
        self.prefix: Ints = np.zeros((0, len(self._look_up(""))), dtype=np.int64)
        self.suffix = self.prefix

    def __call__(self, text: str, sentences: Sequence[Sentence]) -> list[Subwords]:
        """See `Reader`."""
        return [self._read(text, sentence) for sentence in sentences]

    def _read(self, text: str, sentence: Sentence) -> Subwords:
        numbers = [self._numbers(text[start:end]) for start, end in sentence.tokens]
        place = np.arange(len(numbers))
        return Subwords(np.stack(numbers) if numbers else self.prefix, place, place + 1)

    def _look_up(self, word: str) -> Ints:
        """The row of a word, and its spelling."""
        row = next((self._rows[form] for form in variants(word) if form in self._rows), UNKNOWN)
        if not self._spelled:
            return np.array([row])
        return np.concatenate([[row], spelling(word)])

    def save(self, folder: Path) -> None:
        """See `Reader`."""
        replace_file(folder / WORDS, json.dumps(self.words, ensure_ascii=True).encode())


def load_words(folder: Path) -> list[str]:
    """What `WordReader.save` wrote."""
    path = folder / WORDS
    try:
        words = json.loads(path.read_bytes())
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError("something other than a list of words")
    except (OSError, ValueError, RecursionError) as error:
        raise DisconerError(
            "The words of this model are missing or damaged",
            where=Where(str(path)),
            got=first_line(error),
            fix="Copy the complete model again.",
        ) from error
    return words


def load_word_reader(config: EncoderConfig, folder: Path) -> WordReader:
    """The reader of the model in a folder."""
    return WordReader(load_words(folder), spelled=config.characters is not None)


class VectorsKind:
    """See `EncoderKind`."""

    reads_context = False

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        from disconer.nn.encoders.vectors.encoder import load_vector_encoding

        return load_vector_encoding(config, words())

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        from disconer.nn.encoders.vectors.encoder import build_vector_encoding

        return build_vector_encoding(config, description, folder)

    def load_exported_reader(
        self, config: EncoderConfig, description: Mapping[str, Any], folder: Path, *, padding: int
    ) -> Reader:
        return load_word_reader(config, folder)


KIND = VectorsKind()
