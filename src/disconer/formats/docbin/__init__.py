"""spaCy's DocBin, the .spacy files that spaCy is trained and evaluated with. Lossless; needs spaCy.

Entities are a span group in which the spans of one entity share an id; see `groups`. In files that disconer
did not write they are the spans of the span categorizer (`doc.spans["sc"]`), or else `doc.ents`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import BinaryIO

from disconer.core.errors import BadInput, DisconerError, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import without_halves
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.seen_ids import with_distinct_ids
from disconer.formats.source import Member

SUFFIXES = (".spacy",)
REPLACED = "lone surrogates, which spaCy cannot store, replaced"

_OPENING = 64  # decompressed bytes that identify a DocBin: a map, and its first keys


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    _require_spacy()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from disconer.formats.docbin.documents import to_document

    with _checked(member):
        docs = DocBin().from_bytes(member.read()).get_docs(Vocab())
        for number, doc in enumerate(docs, 1):
            try:
                yield to_document(doc, id=f"{member.stem}-{number}", ledger=ledger, path=member.origin)
            except BadInput as error:
                ledger.error(error)


@contextmanager
def _checked(member: Member) -> Iterator[None]:
    """Errors of spaCy as messages for users. As spaCy checks little, a bad file may raise anything."""
    try:
        yield
    except DisconerError:
        raise
    except Exception as error:
        truncated = "truncated" in str(error.__context__)
        raise BadInput(
            "truncated" if truncated else "bad-syntax",
            "This DocBin ends too early" if truncated else "This is not a spaCy DocBin",
            where=Where(member.origin),
            got=excerpt(repr(error)),
            fix="Copy it or make it again.",
        ) from error


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    _require_spacy()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from disconer.formats.docbin.documents import to_doc

    vocab = Vocab()
    docs = DocBin()
    encodable = (_encodable(document, ledger) for document in documents)
    for document in with_distinct_ids(encodable, ledger):
        docs.add(to_doc(document, vocab))
    stream.write(docs.to_bytes())


def _require_spacy() -> None:
    if find_spec("spacy") is None:
        raise DisconerError("DocBin files (.spacy) need spaCy", fix="Install it: pip install 'disconer[spacy]'.")


def _encodable(document: Document, ledger: Ledger) -> Document:
    cleaned, n_halves = without_halves(document)
    ledger.lost(REPLACED, n_halves)
    return cleaned


def _sniff(name: str, head: bytes) -> bool:
    try:
        opening = zlib.decompressobj().decompress(head, _OPENING)
    except zlib.error:
        return False
    return b"version" in opening and b"attrs" in opening


FORMAT = Format(
    name="docbin",
    about="spaCy's DocBin: the .spacy files that spaCy trains on; needs spaCy",
    holds="everything",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=stream_writer(_write),
)
