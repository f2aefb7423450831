"""W2NER's JSON (Li et al., AAAI 2022): an array of sentences, each a document of its own.

[{"sentence": ["Severe", "joint", "and", "neck", "pain"], "ner": [{"index": [0, 1, 4], "type": "ADR"}]}]

`index` lists the token positions of a mention; where they jump, a fragment ends. Other keys, such as the
word boundaries (`word`) of Chinese corpora, go to `extras["w2ner"]` and come back when written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import carried
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import dump_json, field, iter_records, leading_keys
from disconer.formats.sentencewise import Mention, TokenSentence, WordSentence, check_words, from_words, lone_sentences
from disconer.formats.source import Member
from disconer.text.alignment import Range

SUFFIXES = (".json",)
_OWN_KEYS = ("sentence", "ner")


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, (where, record) in enumerate(iter_records(member, ledger), 1):
        id = f"{member.stem}-{number}"
        try:
            yield _read_record(record, id, Where(where.path, where.line, document=id), ledger)
        except BadInput as error:
            ledger.error(error)


def _read_record(record: Any, id: str, where: Where, ledger: Ledger) -> Document:
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
    others = {key: value for key, value in record.items() if key not in _OWN_KEYS}
    extras = {"w2ner": others} if others else None
    return from_words(id, [WordSentence(words, mentions)], where, ledger, extras)


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
        sentences = lone_sentences(document, ledger, extras_kept="w2ner")
        for sentence in sentences:
            record = _record(sentence)
            if len(sentences) == 1:
                with carried(document, "w2ner") as others:
                    record |= {key: value for key, value in others.items() if key not in record}
            stream.write(before + dump_json(record))
            before = b",\n"
    stream.write(b"\n]\n" if before == b",\n" else b"[]\n")


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
