"""W2NER's JSON (Li et al., AAAI 2022): an array of sentences.

[{"doc_id": "note-1", "sentence": ["Severe", "joint", "and", "neck", "pain"],
  "ner": [{"index": [0, 1, 4], "type": "ADR"}]}]

`index` lists the token positions of a mention; where they jump, a fragment ends. `doc_id` is our addition, which
W2NER ignores: consecutive sentences that share it are one document; without it, each is a document of its own.
Other keys, such as the word boundaries (`word`) of Chinese corpora, go to `extras["w2ner"]`, those of each sentence
under "sentences" where there are several, and come back when written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import carried
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import dump_json, field, iter_records, leading_keys
from disconer.formats.sentencewise import (
    Mention,
    TokenSentence,
    WordSentence,
    check_words,
    from_words,
    sentences_with_words,
)
from disconer.formats.source import Member
from disconer.text.alignment import Range

SUFFIXES = (".json",)
SENTENCES = "sentences"
DOCUMENT = "doc_id"
_OWN_KEYS = ("sentence", "ner")


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    number = 0
    for id, group in groupby(iter_records(member, ledger), key=lambda item: _document_id(item[1])):
        records = list(group)
        for some in [records] if id is not None else [[record] for record in records]:
            number += 1
            name = id or f"{member.stem}-{number}"
            where = Where(some[0][0].path, some[0][0].line, document=name)
            try:
                yield _read_document([record for _, record in some], name, where, ledger)
            except BadInput as error:
                ledger.error(error)


def _document_id(record: Any) -> str | None:
    id = record.get(DOCUMENT) if isinstance(record, dict) else None
    return id if isinstance(id, str) and id else None


def _read_document(records: list[Any], id: str, where: Where, ledger: Ledger) -> Document:
    sentences = [_read_sentence(record, where, ledger) for record in records]
    own = (*_OWN_KEYS, DOCUMENT) if _document_id(records[0]) else _OWN_KEYS
    others = [{key: value for key, value in record.items() if key not in own} for record in records]
    extras = others[0] if len(others) == 1 else {SENTENCES: others}
    return from_words(id, sentences, where, ledger, {"w2ner": extras} if any(others) else None)


def _read_sentence(record: Any, where: Where, ledger: Ledger) -> WordSentence:
    words = field(record, "sentence", list, where)
    check_words(words, where)
    mentions = []
    for item in field(record, "ner", list, where, default=[]):
        mention = _read_mention(item)
        if mention is not None:
            mentions.append(mention)
        else:
            ledger.error(
                BadInput(
                    "bad-syntax",
                    "This is not an entity",
                    where=where,
                    got=excerpt(item),
                    expected='{"index": [token positions], "type": "…"}',
                )
            )
    return WordSentence(words, mentions)


def _read_mention(item: Any) -> Mention | None:
    try:
        index, label = item["index"], item["type"]
        if index and isinstance(label, str) and all(type(position) is int for position in index):
            return Mention(label, _runs(index))
    except (TypeError, KeyError):
        pass
    return None


def _runs(index: list[int]) -> list[Range]:
    """Token positions as ranges, in the order of the file.

    >>> _runs([5, 6, 2])
    [(5, 7), (2, 3)]
    """
    ranges = [(index[0], index[0] + 1)]
    for position in index[1:]:
        first, end = ranges[-1]
        if position == end:
            ranges[-1] = (first, end + 1)
        else:
            ranges.append((position, position + 1))
    return ranges


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    before = b"[\n"
    for document in documents:
        sentences = sentences_with_words(document, ledger, extras_kept="w2ner")
        for sentence, others in zip(sentences, _others(document, len(sentences), ledger), strict=True):
            record = {DOCUMENT: document.id} | _record(sentence)
            record |= {key: value for key, value in others.items() if key not in record}
            stream.write(before + dump_json(record))
            before = b",\n"
    stream.write(b"\n]\n" if before == b",\n" else b"[]\n")


def _others(document: Document, n_sentences: int, ledger: Ledger) -> list[dict[str, Any]]:
    """The other keys of each sentence, as far as the extras still fit."""
    with carried(document, "w2ner") as extras:
        if not extras:
            return [{}] * n_sentences
        others = [dict(one) for one in extras[SENTENCES]] if SENTENCES in extras else [extras]
        if len(others) == n_sentences:
            return others
    ledger.lost("documents' w2ner extras")
    return [{}] * n_sentences


def _record(sentence: TokenSentence) -> dict[str, Any]:
    ner = [
        {"index": [position for first, end in entity.ranges for position in range(first, end)], "type": entity.label}
        for entity in sentence.entities
    ]
    return {"sentence": sentence.words, "ner": ner}


def _sniff(name: str, head: bytes) -> bool:
    return {"sentence", "ner"} <= leading_keys(head)


FORMAT = Format(
    name="w2ner",
    about="W2NER's JSON: sentences of words, mentions as lists of token positions",
    holds="all entities of a sentence",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=stream_writer(_write),
)
