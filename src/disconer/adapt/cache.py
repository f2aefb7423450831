"""The tokenised text of a run: files of numbers, mapped into memory, and a note of what they were made of."""

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

from disconer.adapt.tokenize import PieceMaker, Pieces, make_pieces, write_array
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.formats.source import Source

NOTE = "tokens.json"
TRAIN, HELD_OUT = "train", "held-out"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The pieces of one part of the text.

    starts: whether a piece begins a word; None where nobody asked.
    cases: how a piece is written; None where nobody asked.
    """

    ids: NDArray[Any]
    starts: NDArray[np.bool_] | None
    cases: NDArray[np.uint8] | None
    n_documents: int

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class TokenCache:
    """All text: what is learnt from, and what is held out."""

    train: Tokens
    held_out: Tokens


def origin_of(paths: Sequence[Path], format: str | None, maker_facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a cache is made of: the same origin gives the same pieces."""
    digest = hashlib.sha256()
    for path in paths:
        for member in Source(path):
            file = Path(member.origin)
            size = file.stat().st_size if file.is_file() else 0
            digest.update(f"{member.name}\0{size}\0".encode("utf-8", "surrogatepass"))
    return {"texts": digest.hexdigest(), "format": format, **maker_facts}


def tokenizer_hash(tokenizer: Any) -> str:
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def has_cache(folder: Path) -> bool:
    return (folder / NOTE).is_file()


def build_cache(
    folder: Path,
    texts: Iterable[str],
    maker: PieceMaker,
    origin: Mapping[str, Any],
    *,
    held_out: float,
    seen: Callable[[int], None],
) -> None:
    """Tokenise texts into `folder`. The note is written last: where it is, all is.

    seen: told how many pieces there are so far.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts = {part: {"documents": 0, "pieces": 0} for part in (TRAIN, HELD_OUT)}
    with ExitStack() as files:
        ids, starts, cases = (
            {part: files.enter_context(open(folder / f"{part}.{kind}", "wb")) for part in counts}
            for kind in ("ids", "starts", "cases")
        )

        def write(pieces: Pieces, is_held_out: bool) -> None:
            part = HELD_OUT if is_held_out else TRAIN
            write_array(ids[part], pieces.ids)
            write_array(starts[part], pieces.starts)
            write_array(cases[part], pieces.cases)
            counts[part]["documents"] += pieces.n_documents
            counts[part]["pieces"] += len(pieces.ids)
            seen(counts[TRAIN]["pieces"] + counts[HELD_OUT]["pieces"])

        make_pieces(texts, maker, held_out=held_out, write=write)
    note = {"origin": dict(origin), "dtype": maker.dtype.name, "counts": counts}
    replace_file(folder / NOTE, json.dumps(note, indent=2).encode())


def open_cache(folder: Path, origin: Mapping[str, Any]) -> TokenCache:
    """The cache in a folder, if it was made of the same text by the same tokenizer."""
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
            fix="Delete this folder: it is made anew from the text.",
        ) from error
    if made_of != dict(origin):
        changed = ", ".join(sorted(key for key in origin if made_of.get(key) != origin[key]))
        raise DisconerError(
            "The tokenised text here was made of something else",
            where=Where(str(folder)),
            got=f"another choice of: {changed}",
            fix="Give the same text, encoder and settings, or another folder.",
        )
    return TokenCache(*parts)


def _open_part(
    folder: Path, name: str, dtype: np.dtype[Any], counts: Mapping[str, int], asked: Mapping[str, bool]
) -> Tokens:
    n_pieces = counts["pieces"]
    ids = _mapped(folder / f"{name}.ids", dtype, n_pieces)
    starts = _mapped(folder / f"{name}.starts", np.dtype(np.bool_), n_pieces) if asked["starts"] else None
    cases = _mapped(folder / f"{name}.cases", np.dtype(np.uint8), n_pieces) if asked["cases"] else None
    return Tokens(ids, starts, cases, counts["documents"])


def _mapped(path: Path, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    found = path.stat().st_size
    if found != size * dtype.itemsize:
        raise ValueError(f"{found} bytes in {path.name}, not {size * dtype.itemsize}")
    return np.memmap(path, dtype, "r", shape=(size,)) if size else np.zeros(0, dtype)
