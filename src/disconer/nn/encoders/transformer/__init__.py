"""Word vectors from a pretrained transformer: its kind and its reader, which makes subwords of words. No torch here.

An uncased vocabulary makes one subword of "ALL", the leukaemia, and "all". Encoders such as BERT add an embedding
of its token type to each subword, which distinguishes the two texts of a pair; we read single texts, so token types can
encode case instead. The configuration of an encoder that was trained so has `"token_types": "case"`.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.places import is_bundled
from disconer.core.sentence import Sentence
from disconer.nn.encoders import Words
from disconer.nn.encoders.transformer.subword_cache import (
    ListedPieces,
    Pieces,
    ReadStretches,
    SubwordCache,
    splits_at_spaces,
)
from disconer.nn.encoders.transformer.tokenizer_check import check_ids, check_tokenizer, checked_tokenizer
from disconer.nn.encoders.transformer.tokenizer_errors import damaged_tokenizers, library_errors
from disconer.nn.reader import Ints, Reader, Subwords, Text

if TYPE_CHECKING:
    from disconer.nn.interfaces import Encoding


SETTING, BY_CASE = "token_types", "case"

_N_TOLD_APART = 0x20000  # characters; no letter beyond has a case


class Case(IntEnum):
    """The case of a subword."""

    LOWER = 0  # or without letters; also special tokens
    TITLE = 1  # Known
    UPPER = 2  # ALT, B
    MIXED = 3  # mRNA


def reads_case(settings: Mapping[str, Any]) -> bool:
    """Whether an encoder with this configuration takes case as token types."""
    return settings.get(SETTING) == BY_CASE


def cases(text: str, offsets: Ints) -> Ints:
    """The case of each subword of a text.

    offsets: where subwords start and end.  Shape: (subwords, 2)
    Returns:  Shape: (subwords,)
    """
    kinds = _kinds()[np.minimum(_code_points(text), _N_TOLD_APART - 1)]  # (characters,)
    is_upper = kinds == Case.UPPER
    start, end = offsets.T
    n_upper, n_lower = _counts(is_upper, start, end), _counts(kinds == Case.LOWER, start, end)
    is_title = (n_upper == 1) & is_upper[np.minimum(start, len(text) - 1)]
    with_upper = np.where(n_lower == 0, Case.UPPER, np.where(is_title, Case.TITLE, Case.MIXED))
    return np.where(n_upper == 0, Case.LOWER, with_upper)


def _counts(is_counted: NDArray[np.bool_], start: Ints, end: Ints) -> Ints:
    """How many of the characters in each stretch are counted."""
    before = np.zeros(len(is_counted) + 1, np.int64)
    np.cumsum(is_counted, out=before[1:])
    counts: Ints = before[end] - before[start]
    return counts


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def _kinds() -> NDArray[np.int8]:
    """Of each character, Case.UPPER, Case.LOWER, or -1 if it has no case."""
    characters = map(chr, range(_N_TOLD_APART))
    return np.array([Case.UPPER if c.isupper() else Case.LOWER if c.islower() else -1 for c in characters], np.int8)


# Tokenization is a hundredth of the work; with threads, the library would warn at every fork.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

VOCABULARY_SIZE = "vocab_size"  # the setting of an encoder
SHORT = 600  # characters
_HALF_PAIR = re.compile("[\ud800-\udfff]")  # half a surrogate pair, which the tokenizers library refuses
_REPLACEMENT = "\ufffd"


class SubwordTokenizer:
    """The reader of transformers: a fast Hugging Face tokenizer, aligned to our words.

    The sentence is tokenized as the raw text that the encoder was trained on; a word's subwords are those that
    share a character with it. So the same code works for WordPiece, byte-level BPE and unigram models.

    case: each subword is its id and its case, for an encoder that reads case.
    """

    def __init__(self, tokenizer: Any, *, case: bool = False) -> None:
        if not hasattr(tokenizer, "backend_tokenizer"):
            raise DisconerError(
                f"The tokenizer of this encoder ({type(tokenizer).__name__}) does not give the offsets of subwords",
                expected="one of the fast tokenizers, which come with a tokenizer.json",
                fix="Choose another encoder.",
            )
        self.tokenizer = tokenizer
        self._case = case
        self._backend = tokenizer.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        with library_errors():
            bare = self._backend.encode("a", add_special_tokens=False).ids
            whole = self._backend.encode("a", add_special_tokens=True).ids
            before = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
        self.prefix: Ints = self._mark(whole[:before])
        self.suffix: Ints = self._mark(whole[before + len(bare) :])
        self.padding: int = tokenizer.pad_token_id or 0
        self._cache = SubwordCache(self._tokenized) if splits_at_spaces(self._backend) else None
        self._read_stretches: ReadStretches = self._cache or self._tokenized

    def __call__(self, text: str, sentences: Sequence[Sentence]) -> list[Subwords]:
        """The subwords of sentences of one text."""
        (own,) = self.read_texts([(text, sentences)])
        return own

    def read_texts(self, texts: Sequence[Text]) -> list[list[Subwords]]:
        """See `TextsReader`. All texts are aligned at once, as if they were one: there may be many short ones."""
        if self._cache and len(texts) == 1 and len(texts[0][0]) <= SHORT:
            return [self._read_short(self._cache, *texts[0])]
        sound = [_HALF_PAIR.sub(_REPLACEMENT, text) for text, _ in texts]
        sizes = [len(sentences) for _, sentences in texts]
        begins = np.repeat(np.cumsum([0, *map(len, sound)])[:-1], sizes)  # of each sentence, where its text does
        of_text = zip(sound, (sentences for _, sentences in texts), strict=True)
        stretches = [text[sentence.start : sentence.end] for text, own in of_text for sentence in own]
        sentences = [sentence for _, own in texts for sentence in own]
        subwords = iter(_aligned(self._read_stretches(stretches), sentences, begins))
        return [list(islice(subwords, size)) for size in sizes]

    def _read_short(self, cache: SubwordCache, text: str, sentences: Sequence[Sentence]) -> list[Subwords]:
        """The same for a text that comes by itself: arrays of a few numbers would take longer to make than to use."""
        sound = _HALF_PAIR.sub(_REPLACEMENT, text)
        return [self._listed(cache.read_one(sound[one.start : one.end]), one) for one in sentences]

    def _listed(self, pieces: ListedPieces, sentence: Sentence) -> Subwords:
        """The subwords of a sentence, and those of its words. See `_aligned`."""
        places = [(start - sentence.start, end - sentence.start) for start, end in sentence.tokens]
        first = [bisect_right(pieces.end, start) for start, _ in places]
        end = [max(low, bisect_left(pieces.start, stop)) for low, (_, stop) in zip(first, places, strict=True)]
        ids = np.array(pieces.ids, np.int64) if pieces.ids else self.prefix[:0]
        return Subwords(ids, np.array(first, np.int64), np.array(end, np.int64))

    def _mark(self, ids: list[int]) -> Ints:
        """Special tokens."""
        marks = np.array(ids, dtype=np.int64)
        return np.stack([marks, np.full_like(marks, Case.LOWER)], axis=-1) if self._case else marks

    def _tokenized(self, stretches: Sequence[str]) -> Pieces:
        """The subwords of stretches of text, as the tokenizer makes them."""
        with library_errors():
            encoded = self._backend.encode_batch(stretches, add_special_tokens=False)
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        n_subwords = sizes.sum()
        ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encoded), np.int64, n_subwords)
        ends = chain.from_iterable(chain.from_iterable(encoding.offsets for encoding in encoded))
        offsets = np.fromiter(ends, np.int64, 2 * n_subwords).reshape(-1, 2)  # within stretches
        if self._case:
            begins = np.cumsum([0, *map(len, stretches)])[:-1]
            found = cases("".join(stretches), offsets + np.repeat(begins, sizes)[:, None])
            ids = np.stack([ids, found], axis=-1)
        return Pieces(sizes, ids, offsets[:, 0].copy(), offsets[:, 1].copy())

    def check(self, n_ids: int | None, where: Where) -> None:
        """Stop if this tokenizer is unsafe, or makes subwords that the encoder does not know.

        n_ids: how many it knows; None if unknown.
        """
        check_tokenizer(json.loads(self._backend.to_str()), n_ids, where)
        self.check_special(n_ids, where)

    def check_special(self, n_ids: int | None, where: Where) -> None:
        """Stop if the encoder does not know all special tokens. See `check`."""
        around = np.concatenate([self.prefix, self.suffix]).ravel().tolist()
        check_ids([self.padding, *around, *self._backend.get_added_tokens_decoder()], n_ids, where)

    def save(self, folder: Path) -> None:
        """See `Reader`."""
        with tempfile.TemporaryDirectory() as staging:
            self.tokenizer.save_pretrained(staging)
            for path in Path(staging).iterdir():
                replace_file(folder / path.name, path.read_bytes())


def _aligned(pieces: Pieces, sentences: Sequence[Sentence], begins: Ints) -> list[Subwords]:
    """The subwords of each sentence, and those of its words: all at once, by their places in the text, in order.

    begins: of each sentence, what it counts its places from.  Shape: (sentences,)
    """
    bounds = [0, *np.cumsum(pieces.sizes).tolist()]  # of each sentence, its first subword; all their number
    starts = begins + np.array([sentence.start for sentence in sentences], np.int64)
    moved = np.repeat(starts, pieces.sizes)
    n_words = [len(sentence.tokens) for sentence in sentences]
    word_bounds = [0, *accumulate(n_words)]
    ends = chain.from_iterable(chain.from_iterable([sentence.tokens for sentence in sentences]))
    words = np.fromiter(ends, np.int64, 2 * word_bounds[-1]).reshape(-1, 2) + np.repeat(begins, n_words)[:, None]
    first = np.searchsorted(pieces.end + moved, words[:, 0], side="right")
    end = np.maximum(first, np.searchsorted(pieces.start + moved, words[:, 1], side="left"))
    opening = np.repeat(bounds[:-1], n_words)  # of each word, the first subword of its sentence
    first, end = first - opening, end - opening
    return [
        Subwords(pieces.ids[start:stop], first[word:last], end[word:last])
        for start, stop, word, last in zip(bounds, bounds[1:], word_bounds, word_bounds[1:], strict=False)
    ]


TOKENIZER = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class SavedTokenizer:
    """A tokenizer.json with as much of the interface of transformers as `SubwordTokenizer` needs."""

    backend_tokenizer: Any
    pad_token_id: int

    def save_pretrained(self, folder: str) -> None:
        self.backend_tokenizer.save(str(Path(folder) / TOKENIZER))


def load_saved_tokenizer(folder: Path, description: Mapping[str, Any], *, padding: int) -> SubwordTokenizer:
    """The reader of the exported model in a folder, without transformers. description: of its encoder."""
    from tokenizers import Tokenizer

    path, n_ids = folder / TOKENIZER, description.get(VOCABULARY_SIZE)
    with damaged_tokenizers(path):
        content = path.read_text("utf-8") if is_bundled(path) else checked_tokenizer(path, n_ids)
        tokenizer = Tokenizer.from_str(content)
        reader = SubwordTokenizer(SavedTokenizer(tokenizer, padding), case=reads_case(description))
    if not is_bundled(path):
        reader.check_special(n_ids, Where(str(path)))
    return reader


class TransformerKind:
    """See `EncoderKind`."""

    reads_context = True

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        from disconer.nn.encoders.transformer.encoder import load_transformer_encoding

        return load_transformer_encoding(config)

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        from disconer.nn.encoders.transformer.encoder import build_transformer_encoding

        return build_transformer_encoding(config, description, folder)

    def load_exported_reader(
        self, config: EncoderConfig, description: Mapping[str, Any], folder: Path, *, padding: int
    ) -> Reader:
        return load_saved_tokenizer(folder, description, padding=padding)


KIND = TransformerKind()
