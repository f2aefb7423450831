"""Word vectors from ELMo: its kind, its reader, which reads words by their characters, and its sizes. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from disconer.config import EncoderConfig
from disconer.core.sentence import Sentence
from disconer.nn.encoders import Words
from disconer.nn.reader import Ints, Subwords

if TYPE_CHECKING:
    from disconer.nn.interfaces import Encoding


MAX_LETTERS = 50  # characters of a word, including the marks around it
# Characters are bytes, numbered from 1; 0 is padding between words. The numbers after them:
_SENTENCE_BEGINS, _SENTENCE_ENDS, _WORD_BEGINS, _WORD_ENDS, _FILL = range(257, 262)

_REMEMBERED = 2**16  # words whose numbers are kept


def _word(letters: Sequence[int]) -> Ints:
    numbers = np.full(MAX_LETTERS, _FILL, dtype=np.int64)
    kept = [_WORD_BEGINS, *letters[: MAX_LETTERS - 2], _WORD_ENDS]
    numbers[: len(kept)] = kept
    return numbers


@lru_cache(_REMEMBERED)
def letters_of(word: str) -> Ints:
    """The ids of a word's characters.  Shape: (MAX_LETTERS,)"""
    return _word([byte + 1 for byte in word.encode("utf-8", "ignore")])


class ElmoReader:
    """Reads words character by character, with sentence marks around each window. See `Reader`."""

    padding = 0
    prefix: Ints = _word([_SENTENCE_BEGINS])[None]
    suffix: Ints = _word([_SENTENCE_ENDS])[None]

    def __call__(self, text: str, sentences: Sequence[Sentence]) -> list[Subwords]:
        """See `Reader`."""
        return [_read(text, sentence) for sentence in sentences]

    def save(self, folder: Path) -> None:
        """Nothing to save: the numbering of characters is that of the original ELMo."""


def _read(text: str, sentence: Sentence) -> Subwords:
    words = [letters_of(text[start:end]) for start, end in sentence.tokens]
    place = np.arange(len(words))
    return Subwords(np.stack(words) if words else np.zeros((0, MAX_LETTERS), dtype=np.int64), place, place + 1)


ACTIVATIONS = ("relu", "tanh")


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """Sizes of the character CNN and of the language models over its word vectors.

    letters: size of the character vocabulary. letter_size: character embedding size.
    filters: width and number of the filters of each convolution.
    highways: highway layers after them. activation: of the convolutions.
    word_size: size of a word vector per direction. cells: of each LSTM. layers: LSTMs per direction.
    cell_clip, word_clip: limits of cell and output values; None: no limit.
    skip: whether a layer's input is added to its output, except for the first.
    """

    letters: int
    letter_size: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    activation: str
    word_size: int
    cells: int
    layers: int
    cell_clip: float | None
    word_clip: float | None
    skip: bool

    @classmethod
    def published(cls, options: Mapping[str, Any]) -> ElmoOptions:
        """From the content of options.json. Raises KeyError, TypeError or ValueError where it is something else."""
        letters, lstm = options["char_cnn"], options["lstm"]
        activation = letters.get("activation", "relu")
        if letters["max_characters_per_token"] != MAX_LETTERS or activation not in ACTIVATIONS:
            raise ValueError(f"words not of {MAX_LETTERS} characters, or an unknown activation")
        return cls(
            letters=int(letters["n_characters"]),
            letter_size=int(letters["embedding"]["dim"]),
            filters=tuple((int(width), int(count)) for width, count in letters["filters"]),
            highways=int(letters["n_highway"]),
            activation=activation,
            word_size=int(lstm["projection_dim"]),
            cells=int(lstm["dim"]),
            layers=int(lstm["n_layers"]),
            cell_clip=lstm.get("cell_clip"),
            word_clip=lstm.get("proj_clip"),
            skip=bool(lstm.get("use_skip_connections", False)),
        )

    @classmethod
    def described(cls, description: Mapping[str, Any]) -> ElmoOptions:
        """From what a model folder keeps, as `dataclasses.asdict` made it."""
        filters = tuple((int(width), int(count)) for width, count in description["filters"])
        return cls(**{**description, "filters": filters})


class ElmoKind:
    """See `EncoderKind`."""

    reads_context = False
    load_exported_reader = None  # its LSTMs, clipped at every step, have no graph in `export`

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        from disconer.nn.encoders.elmo.encoding import load_elmo_encoding

        return load_elmo_encoding(config)

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        from disconer.nn.encoders.elmo.encoding import build_elmo_encoding

        return build_elmo_encoding(description, folder)


KIND = ElmoKind()
