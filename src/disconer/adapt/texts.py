"""Read the texts, and tokenise them into subwords, in batches and on all cores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from disconer.core.background import made_ahead
from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.formats import format_named, note_unread, read, sniff
from disconer.formats.source import Member, Source
from disconer.nn.encoders.transformer import Case, cases

ONE_DOCUMENT = 2**20  # characters; in a larger plain text file, blank lines separate documents
PLAIN = "text"


def iter_texts(paths: Sequence[Path], format: str | None, ledger: Ledger) -> Iterator[str]:
    """The texts of all documents, annotated or not; plain text files are streamed."""
    for path in paths:
        source = Source(path)
        chosen = format_named(format) if format else sniff(source)
        if format is None:
            note_unread(source, chosen, ledger)
        if chosen.name == PLAIN:
            for member in source:
                if source.is_single_file or member.suffix in chosen.suffixes:
                    yield from _plain_texts(member, ledger)
        else:
            yield from (document.text for document in read(source, chosen.name, ledger))


def _plain_texts(member: Member, ledger: Ledger) -> Iterator[str]:
    try:
        yield from split_collection(line for _, line in member.lines())
    except BadInput as error:
        ledger.error(error)


def split_collection(lines: Iterable[str]) -> Iterator[str]:
    """One document if there are few lines, else one per block between blank lines."""
    lines = iter(lines)
    first = list(_up_to_limit(lines))
    following = next(lines, None)
    if following is None:
        yield "\n".join(first)
        return
    for has_words, document in groupby(chain(first, [following], lines), key=lambda line: bool(line.strip())):
        # Where blank lines are rare, documents are cut at what was read so far, to bound memory.
        while has_words and (part := list(_up_to_limit(document))):
            yield "\n".join(part)


def _up_to_limit(lines: Iterator[str]) -> Iterator[str]:
    """Lines until they are longer than a document."""
    size = 0
    for line in lines:
        yield line
        size += len(line) + 1
        if size > ONE_DOCUMENT:
            return


BATCH = 4_000_000  # characters tokenised at once: enough for many cores, little memory
HASHES = 2**64


@dataclass(frozen=True, slots=True)
class Text:
    """A document's lines that are not blank, and whether it is held out."""

    lines: list[str]
    is_held_out: bool


@dataclass(frozen=True, slots=True)
class Subwords:
    """The subwords of some documents, each followed by a separator.

    starts: whether a subword starts a word; empty if not needed.
    cases: the letter case of each subword; empty if not needed.
    """

    ids: NDArray[Any]
    starts: NDArray[np.bool_]
    cases: NDArray[np.uint8]
    n_documents: int


class SubwordMaker:
    """Tokenises documents, line by line and on all cores.

    tokenizer: a fast tokenizer of transformers; not modified.
    whole_words, case: whether to compute word starts and letter case.
    """

    def __init__(self, tokenizer: Any, *, whole_words: bool = False, case: bool = False) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Only the slower method returns word ids and offsets.
        self._encode = self._tokenizer.encode_batch if whole_words or case else self._tokenizer.encode_batch_fast
        self._whole_words, self._case = whole_words, case
        separator = tokenizer.sep_token_id
        self._end: list[int] = [] if separator is None else [separator]
        self.dtype = np.dtype(np.uint16 if len(tokenizer) <= 2**16 else np.uint32)

    def subwords(self, texts: list[Text]) -> Subwords:
        """The lines of a document are joined without a special token: a line break is only whitespace."""
        encodings = iter(self._encode([line for text in texts for line in text.lines], add_special_tokens=False))
        ids: list[list[int]] = []
        starts: list[NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
        cases: list[NDArray[np.uint8]] = [np.zeros(0, np.uint8)]
        for text in texts:
            of_text = list(islice(encodings, len(text.lines)))
            ids += [*(encoding.ids for encoding in of_text), self._end]
            if self._whole_words:
                starts += [_word_starts(encoding.word_ids) for encoding in of_text]
                starts.append(np.ones(len(self._end), np.bool_))
            if self._case:
                cases += [_cases(text.lines, of_text), np.full(len(self._end), Case.LOWER, np.uint8)]
        flat = np.fromiter(chain.from_iterable(ids), self.dtype, sum(map(len, ids)))
        return Subwords(flat, np.concatenate(starts), np.concatenate(cases), len(texts))


def _word_starts(words: list[int | None]) -> NDArray[np.bool_]:
    """Where the word id changes; a subword without a word (None) starts its own."""
    numbers = np.array(words, np.float64)  # None becomes nan, which differs from all
    return np.concatenate([np.ones(min(1, len(numbers)), np.bool_), numbers[1:] != numbers[:-1]])


def _cases(lines: list[str], encodings: list[Any]) -> NDArray[np.uint8]:
    """The letter case of a document's subwords; all lines at once, as there may be many short ones."""
    sizes = list(map(len, encodings))
    flat = chain.from_iterable(offset for encoding in encodings for offset in encoding.offsets)
    offsets = np.fromiter(flat, np.int64, 2 * sum(sizes)).reshape(-1, 2)  # (subwords, 2), within their lines
    line_starts = np.cumsum([0, *map(len, lines[:-1])])  # (lines,)
    return cases("".join(lines), offsets + np.repeat(line_starts, sizes)[:, None]).astype(np.uint8)


def make_subwords(
    texts: Iterable[str], maker: SubwordMaker, *, held_out: float, write: Callable[[Subwords, bool], None]
) -> None:
    """Tokenise all texts in the background, and pass the result to `write`, with whether it is held out."""

    def make(batch: list[Text]) -> list[tuple[Subwords, bool]]:
        parts = ([text for text in batch if text.is_held_out is kind] for kind in (False, True))
        return [(maker.subwords(part), part[0].is_held_out) for part in parts if part]

    for made in made_ahead(make, _batches(_parted(texts, held_out)), ahead=2):
        for subwords, is_held_out in made:
            write(subwords, is_held_out)


def write_array(stream: BinaryIO, array: NDArray[Any]) -> None:
    stream.write(array.tobytes())


def _parted(texts: Iterable[str], held_out: float) -> Iterator[Text]:
    for text in texts:
        lines = [line for line in text.splitlines() if line.strip()]
        if lines:
            yield Text(lines, is_held_out(text, held_out))


def is_held_out(text: str, fraction: float) -> bool:
    """Whether a text is held out: decided by a hash of its content, so that copies always agree."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < fraction * HASHES


def _batches(texts: Iterable[Text]) -> Iterator[list[Text]]:
    batch: list[Text] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += sum(map(len, text.lines))
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
