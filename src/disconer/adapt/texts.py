"""The texts to learn from, and from texts to pieces: a flat array on disk, so that none is tokenised twice."""

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
from disconer.formats import format_named, read, sniff
from disconer.formats.source import Member, Source
from disconer.nn.encoders.transformer.case import Case, cases

ONE_DOCUMENT = 2**20  # characters; a larger file of plain text is a collection, a blank line between documents
PLAIN = "text"


def iter_texts(paths: Sequence[Path], format: str | None, ledger: Ledger) -> Iterator[str]:
    """The texts of all documents, annotated or not; no file of plain text is ever held as a whole."""
    for path in paths:
        source = Source(path)
        chosen = format_named(format) if format else sniff(source)
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
        ledger.fault(error)


def split_collection(lines: Iterable[str]) -> Iterator[str]:
    """One document if the lines are few, else one between any two blank lines."""
    lines = iter(lines)
    first = list(_up_to_limit(lines))
    following = next(lines, None)
    if following is None:
        yield "\n".join(first)
        return
    for has_words, document in groupby(chain(first, [following], lines), key=lambda line: bool(line.strip())):
        # Where blank lines are rare, documents are made of what is read, so that memory stays small.
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


BATCH = 4_000_000  # characters that are tokenised at once: work for many cores, and little memory
HASHES = 2**64


@dataclass(frozen=True, slots=True)
class Text:
    """A document's lines that are not blank, and whether it is held out."""

    lines: list[str]
    is_held_out: bool


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of some documents, one after another, each document with a separator behind it.

    starts: whether a piece begins a word; empty where nobody asks.
    cases: how a piece is written; empty where nobody asks.
    """

    ids: NDArray[Any]
    starts: NDArray[np.bool_]
    cases: NDArray[np.uint8]
    n_documents: int


class PieceMaker:
    """Tokenises documents, line by line and on all cores.

    tokenizer: a fast one of transformers; it is left as it is.
    whole_words, case: ask where words begin, and how pieces are written.
    """

    def __init__(self, tokenizer: Any, *, whole_words: bool = False, case: bool = False) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Only the slower way knows which word a piece is of, and where it stands.
        self._encode = self._tokenizer.encode_batch if whole_words or case else self._tokenizer.encode_batch_fast
        self._whole_words, self._case = whole_words, case
        separator = tokenizer.sep_token_id
        self._end: list[int] = [] if separator is None else [separator]
        self.dtype = np.dtype(np.uint16 if len(tokenizer) <= 2**16 else np.uint32)

    def pieces(self, texts: list[Text]) -> Pieces:
        """The lines of a document follow each other without a mark: a line break is no more than a space."""
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
        return Pieces(flat, np.concatenate(starts), np.concatenate(cases), len(texts))


def _word_starts(words: list[int | None]) -> NDArray[np.bool_]:
    """Where the number of the word changes; a piece of no word (None) begins one of its own."""
    numbers = np.array(words, np.float64)  # None becomes nan, which differs from all
    return np.concatenate([np.ones(min(1, len(numbers)), np.bool_), numbers[1:] != numbers[:-1]])


def _cases(lines: list[str], encodings: list[Any]) -> NDArray[np.uint8]:
    """How the pieces of a document are written; all lines are looked up at once, as there may be many short ones."""
    sizes = list(map(len, encodings))
    flat = chain.from_iterable(offset for encoding in encodings for offset in encoding.offsets)
    offsets = np.fromiter(flat, np.int64, 2 * sum(sizes)).reshape(-1, 2)  # (pieces, 2), within their lines
    line_starts = np.cumsum([0, *map(len, lines[:-1])])  # (lines,)
    return cases("".join(lines), offsets + np.repeat(line_starts, sizes)[:, None]).astype(np.uint8)


def make_pieces(
    texts: Iterable[str], maker: PieceMaker, *, held_out: float, write: Callable[[Pieces, bool], None]
) -> None:
    """Tokenise all texts in the background, and give what comes out to `write`, with whether it is held out."""

    def make(batch: list[Text]) -> list[tuple[Pieces, bool]]:
        parts = ([text for text in batch if text.is_held_out is kind] for kind in (False, True))
        return [(maker.pieces(part), part[0].is_held_out) for part in parts if part]

    for made in made_ahead(make, _batches(_parted(texts, held_out)), ahead=2):
        for pieces, is_held_out in made:
            write(pieces, is_held_out)


def write_array(stream: BinaryIO, array: NDArray[Any]) -> None:
    stream.write(array.tobytes())


def _parted(texts: Iterable[str], held_out: float) -> Iterator[Text]:
    for text in texts:
        lines = [line for line in text.splitlines() if line.strip()]
        if lines:
            yield Text(lines, is_held_out(text, held_out))


def is_held_out(text: str, share: float) -> bool:
    """Whether a text belongs to the share held out: its content decides, so that copies of it always agree."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < share * HASHES


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
