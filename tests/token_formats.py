"""What the tests of the token formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from disconer import Document, Ledger, read, write
from disconer.text import segment
from disconer.text.alignment import Range, align

Seen = list[tuple[list[str], Counter[tuple[str, tuple[Range, ...]]]]]


def seen(documents: Iterable[Document]) -> Seen:
    """What a token format can say of documents: of each sentence its words and its entities by token positions."""
    found: Seen = []
    for document in map(segment, documents):
        aligned, _ = align(document)
        for sentence, entities in zip(document.sentences or (), aligned, strict=True):
            words = [document.text[start:end] for start, end in sentence.tokens]
            found.append((words, Counter((entity.label, entity.ranges) for entity in entities)))
    return found


def round_trip(documents: Iterable[Document], format: str, suffix: str) -> tuple[list[Document], Ledger]:
    """Documents written and read back, and the account of it."""
    ledger = Ledger()
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        write(documents, path, format, ledger)
        return list(read(path, format, ledger)), ledger


def n_missing(before: Seen, after: Seen) -> int:
    """How many entities did not come back; the words must have."""
    assert [words for words, _ in before] == [words for words, _ in after]
    return sum((was - came).total() for (_, was), (_, came) in zip(before, after, strict=True))
