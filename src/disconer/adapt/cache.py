"""The tokenised text of a run: memory-mapped arrays, and the packed sequences made from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.adapt.texts import SubwordMaker, Subwords, make_subwords, write_array
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.formats.source import Source
from disconer.nn.encoders.transformer import Case

NOTE = "tokens.json"
TRAIN, HELD_OUT = "train", "held-out"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The subwords of one part of the text.

    starts: whether a subword starts a word; None if not needed.
    cases: the letter case of each subword; None if not needed.
    """

    ids: NDArray[Any]
    starts: NDArray[np.bool_] | None
    cases: NDArray[np.uint8] | None
    n_documents: int

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class TokenCache:
    """All text: the training part and the held-out part."""

    train: Tokens
    held_out: Tokens


def origin_of(paths: Sequence[Path], format: str | None, maker_facts: Mapping[str, Any]) -> dict[str, Any]:
    """The origin of a cache: the same origin gives the same subwords.

    For texts, these are the files' names and contents, as stored: reading them is much faster than unpacking them.
    """
    digest = hashlib.sha256()
    for path in paths:
        members = list(Source(path))
        for member in members:
            digest.update(member.name.encode("utf-8", "surrogatepass") + b"\0")
        is_zip = path.is_file() and path.suffix.lower() == ".zip"
        for file in [path] if is_zip else [Path(one.origin) for one in members]:
            digest.update(_content_hash(file))
    return {"texts": digest.hexdigest(), "format": format, **maker_facts}


def _content_hash(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:  # an error, or skipped and counted, where the text is read
        return b""


def tokenizer_hash(tokenizer: Any) -> str:
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def has_cache(folder: Path) -> bool:
    return (folder / NOTE).is_file()


def build_cache(
    folder: Path,
    texts: Iterable[str],
    maker: SubwordMaker,
    origin: Mapping[str, Any],
    *,
    held_out: float,
    seen: Callable[[int], None],
) -> None:
    """Tokenise texts into `folder`. The manifest is written last: if it exists, the cache is complete.

    seen: called with the number of subwords so far.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts = {part: {"documents": 0, "subwords": 0} for part in (TRAIN, HELD_OUT)}
    with ExitStack() as files:
        ids, starts, cases = (
            {part: files.enter_context(open(folder / f"{part}.{kind}", "wb")) for part in counts}
            for kind in ("ids", "starts", "cases")
        )

        def write(subwords: Subwords, is_held_out: bool) -> None:
            part = HELD_OUT if is_held_out else TRAIN
            write_array(ids[part], subwords.ids)
            write_array(starts[part], subwords.starts)
            write_array(cases[part], subwords.cases)
            counts[part]["documents"] += subwords.n_documents
            counts[part]["subwords"] += len(subwords.ids)
            seen(counts[TRAIN]["subwords"] + counts[HELD_OUT]["subwords"])

        make_subwords(texts, maker, held_out=held_out, write=write)
    note = {"origin": dict(origin), "dtype": maker.dtype.name, "counts": counts}
    replace_file(folder / NOTE, json.dumps(note, indent=2).encode())


def open_cache(folder: Path, origin: Mapping[str, Any]) -> TokenCache:
    """The cache in a folder, if it was made from the same text by the same tokenizer."""
    try:
        note = json.loads((folder / NOTE).read_bytes())
        made_of, dtype = note["origin"], np.dtype(note["dtype"])
        asked = {"starts": bool(made_of["whole_words"]), "cases": bool(made_of["case"])}
        parts = [_open_part(folder, name, dtype, note["counts"][name], asked) for name in (TRAIN, HELD_OUT)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DisconerError(
            "The tokenised text here is damaged",
            where=Where(str(folder)),
            got=str(error) or type(error).__name__,
            fix="Delete this folder; it will be made again from the text.",
        ) from error
    if made_of != dict(origin):
        changed = ", ".join(sorted(key for key in origin if made_of.get(key) != origin[key]))
        raise DisconerError(
            "The tokenised text here was made from other input",
            where=Where(str(folder)),
            got=f"a different {changed}",
            fix="Give the same text, encoder and settings, or another folder.",
        )
    return TokenCache(*parts)


def _open_part(
    folder: Path, name: str, dtype: np.dtype[Any], counts: Mapping[str, int], asked: Mapping[str, bool]
) -> Tokens:
    n_subwords = counts["subwords"]
    ids = _mapped(folder / f"{name}.ids", dtype, n_subwords)
    starts = _mapped(folder / f"{name}.starts", np.dtype(np.bool_), n_subwords) if asked["starts"] else None
    cases = _mapped(folder / f"{name}.cases", np.dtype(np.uint8), n_subwords) if asked["cases"] else None
    return Tokens(ids, starts, cases, counts["documents"])


def _mapped(path: Path, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    found = path.stat().st_size
    if found != size * dtype.itemsize:
        raise ValueError(f"{found} bytes in {path.name}, not {size * dtype.itemsize}")
    return np.memmap(path, dtype, "r", shape=(size,)) if size else np.zeros(0, dtype)


class Sequences:
    """Each sequence is a slice of the text between the tokenizer's start and end tokens.

    A slice may start and end anywhere and may span several documents, with separators between them. Attention and
    positions run across separators: a mask to keep documents apart would cost more than it gains. The last slice
    overlaps the one before, so that all have the same length.

    length: subwords per sequence, including special tokens.
    begin, end: the special tokens; empty if the tokenizer has none.
    """

    def __init__(self, tokens: Tokens, *, length: int, begin: int | None, end: int | None) -> None:
        self._tokens = tokens
        self._begin, self._end = ([] if mark is None else [mark] for mark in (begin, end))
        self._size = length - len(self._begin) - len(self._end)
        if len(tokens) < self._size:
            raise DisconerError(
                "There is too little text",
                got=f"{len(tokens):,} subwords",
                expected=f"at least one sequence of {self._size:,}, and better millions",
                fix="Give more text, or a smaller length.",
            )

    def __len__(self) -> int:
        return -(-len(self._tokens) // self._size)

    def ids(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Shape: (sequences, length)"""
        return self._framed(self._tokens.ids, numbers, self._begin, self._end).astype(np.int32)

    def words(self, numbers: NDArray[np.int64]) -> NDArray[np.int32] | None:
        """The number of each subword's word within its sequence, or None without whole-word masking.

        Shape: (sequences, length)
        """
        if self._tokens.starts is None:
            return None
        starts = self._framed(self._tokens.starts, numbers, [True] * len(self._begin), [True] * len(self._end))
        starts[:, : len(self._begin) + 1] = True  # a word cut by the slice starts here
        return (starts.cumsum(1) - 1).astype(np.int32)

    def cases(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8] | None:
        """The letter case of each subword, or None if the encoder does not read it. Shape: (sequences, length)"""
        if self._tokens.cases is None:
            return None
        begin, end = ([Case.LOWER] * len(marks) for marks in (self._begin, self._end))
        return self._framed(self._tokens.cases, numbers, begin, end)

    def _framed(self, flat: NDArray[Any], numbers: NDArray[np.int64], begin: list[Any], end: list[Any]) -> NDArray[Any]:
        first = np.minimum(numbers * self._size, len(self._tokens) - self._size)
        inner = flat[first[:, None] + np.arange(self._size)]  # (sequences, size)
        rows = np.empty((len(numbers), len(begin) + self._size + len(end)), flat.dtype)
        rows[:, : len(begin)] = begin
        rows[:, len(begin) : len(begin) + self._size] = inner
        rows[:, len(begin) + self._size :] = end
        return rows
