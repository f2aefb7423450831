"""Dai's inline format (Dai et al., ACL 2020): three lines per sentence, each sentence a document of its own.

    Severe joint and neck pain .
    0,1,4,4 ADR|3,4 ADR

Tokens joined by spaces; mentions, `first,last[,first,last…] LABEL` with inclusive token positions, joined
by `|`, or nothing; an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Format, member_reader
from disconer.formats.sentencewise import (
    BOM,
    Mention,
    TokenSentence,
    WordSentence,
    from_words,
    lines_of,
    plain,
    sentences_with_words,
    text_writer,
)
from disconer.formats.source import Member

SUFFIXES = (".inline", ".txt")
_SPACE = re.compile(r"\s+")
_NOT_IN_LABELS = re.compile(r"[\s|]+")
_POSITIONS = re.compile(r"-?[0-9]{1,9},-?[0-9]{1,9}(?:,-?[0-9]{1,9},-?[0-9]{1,9})*")
_MENTIONS = re.compile(rf"{_POSITIONS.pattern} [^|]+(?:\|{_POSITIONS.pattern} [^|]+)*")


@dataclass(frozen=True, slots=True)
class _Block:
    """A sentence: its number in the file, the number of its first line, its lines without the empty one."""

    number: int
    line: int
    tokens: str
    mentions: str


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for block in _blocks(member, ledger):
        where = Where(member.origin, block.line + 1)  # only the mentions can still be invalid
        sentence = WordSentence(block.tokens.split(), list(_mentions(block, where, ledger)))
        yield from_words(f"{member.stem}-{block.number}", [sentence], where, ledger)


def _blocks(member: Member, ledger: Ledger) -> Iterator[_Block]:
    """The sentences of a file. If the empty line is missing, the next line starts a sentence."""
    held: list[str] = []
    count = number = 0
    for number, line in lines_of(member):
        if not held and not line.strip():
            continue  # more than one empty line between sentences, or at the end of the file
        held.append(line)
        if len(held) == 3:
            count += 1
            if line.strip():
                ledger.error(_no_empty_line(Where(member.origin, number), line))
                held = [line]
            else:
                yield _Block(count, number - 2, held[0], held[1])
                held = []
    if len(held) == 2:  # the empty line at the end of a file is easily lost, and not needed
        yield _Block(count + 1, number - 1, held[0], held[1])
    elif held:
        ledger.error(_no_mentions_line(Where(member.origin, number), held[0]))


def _no_mentions_line(where: Where, line: str) -> BadInput:
    return BadInput(
        "truncated",
        "The last sentence has no line of mentions",
        where=where,
        got=excerpt(line),
        expected="a line of mentions after each line of tokens, empty if there are none",
        fix="Check that the file is complete.",
    )


def _no_empty_line(where: Where, line: str) -> BadInput:
    return BadInput(
        "bad-syntax",
        "A sentence does not end in an empty line",
        where=where,
        got=excerpt(line),
        expected="three lines per sentence: tokens, mentions (may be empty), an empty line",
        fix="Check that no line of the sentence before is missing or broken in two.",
    )


def _mentions(block: _Block, where: Where, ledger: Ledger) -> Iterator[Mention]:
    if not block.mentions.strip():
        return
    for item in block.mentions.strip().split("|"):
        positions, _, label = item.strip().partition(" ")
        if _POSITIONS.fullmatch(positions) and label.strip():
            numbers = [int(number) for number in positions.split(",")]
            ranges = [(first, last + 1) for first, last in zip(numbers[::2], numbers[1::2], strict=True)]
            yield Mention(label.strip(), ranges)
        else:
            ledger.error(
                BadInput(
                    "bad-syntax",
                    "This is not a mention",
                    where=where,
                    got=excerpt(item),
                    expected="'first,last LABEL', with further 'first,last' pairs after commas",
                )
            )


def _write(documents: Iterable[Document], ledger: Ledger) -> Iterator[str]:
    for document in documents:
        sentences = sentences_with_words(document, ledger)
        ledger.lost("document ids")  # a sentence has no name here
        ledger.lost("documents split into sentences", len(sentences) > 1)
        for sentence in sentences:
            yield _sentence_text(sentence, ledger)


def _sentence_text(sentence: TokenSentence, ledger: Ledger) -> str:
    words = [plain(word, _SPACE, "words", ledger) for word in sentence.words]
    mentions = [
        ",".join(f"{first},{end - 1}" for first, end in entity.ranges)
        + f" {plain(entity.label, _NOT_IN_LABELS, 'labels', ledger)}"
        for entity in sentence.entities
    ]
    return f"{' '.join(words)}\n{'|'.join(mentions)}\n\n"


def _sniff(name: str, head: bytes) -> bool:
    """Every complete sentence of the head has three lines, and at least one has mentions: prose never looks so."""
    lines = head.decode("utf-8", "ignore").removeprefix(BOM).split("\n")
    whole = len(lines) - len(lines) % 3 or len(lines)
    tokens, mentions, empty = lines[0:whole:3], [line.strip() for line in lines[1:whole:3]], lines[2:whole:3]
    return (
        all(line.strip() for line in tokens)
        and all(not line or _MENTIONS.fullmatch(line) for line in mentions)
        and (any(mentions) or (name.lower().endswith(".inline") and bool(lines)))
        and not any(line.strip() for line in empty)
    )


FORMAT = Format(
    name="inline",
    about="Dai et al. 2020: tokens, mentions by token positions, an empty line",
    holds="all entities of a sentence",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=text_writer(_write),
)
