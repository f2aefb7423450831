"""The texts to learn from, one document after another, from any format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path

from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.formats import format_named, read, sniff
from disconer.formats.source import Member, Source

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
