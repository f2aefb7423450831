"""Shared by token formats: documents composed of words, and split into them.

A token format knows words, not text. Reading joins words by single spaces and sentences by line breaks.
Writing drops what tokens cannot represent, and counts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Entity
from disconer.formats.entities import build_entity
from disconer.formats.extras import note_trees, without_halves
from disconer.formats.format import Writer, stream_writer
from disconer.formats.source import Member
from disconer.text.alignment import Range, TokenEntity, align, join_tokens, merge_adjacent
from disconer.text.sentences import segment

BOM = "\ufeff"
REPLACED = "lone surrogates, which text files cannot store, replaced"


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity as a token format has it: half-open ranges of token positions in its sentence, in the file's order."""

    label: str
    ranges: Sequence[Range]


@dataclass(frozen=True, slots=True)
class WordSentence:
    """A sentence as a token format has it."""

    words: Sequence[str]
    mentions: Sequence[Mention] = ()
    heads: tuple[int, ...] | None = None


def from_words(
    id: str,
    sentences: Iterable[WordSentence],
    where: Where,
    ledger: Ledger,
    extras: Mapping[str, Any] | None = None,
) -> Document:
    """The document of some sentences: words joined by spaces, sentences by line breaks.

    A mention outside its sentence is an error of its own; an empty word invalidates the whole document.
    """
    sentences = list(sentences)
    where = Where(where.path, where.line, document=id)
    for sentence in sentences:
        if not all(sentence.words):
            raise BadInput("bad-syntax", "A word is empty", where=where, fix="Remove it, and count positions again.")
    text = "\n".join(" ".join(sentence.words) for sentence in sentences)
    placed: list[Sentence] = []
    entities: list[Entity] = []
    start = 0
    for sentence in sentences:
        end = start + len(" ".join(sentence.words))
        tokens = tuple(Token(*span) for span in join_tokens(list(sentence.words), start))
        placed.append(Sentence(start, end, tokens, sentence.heads))
        entities += _entities(sentence.mentions, placed[-1], text, where, ledger)
        start = end + 1
    return Document(id, text, tuple(entities), tuple(placed), extras or {})


def _entities(
    mentions: Iterable[Mention], sentence: Sentence, text: str, where: Where, ledger: Ledger
) -> Iterator[Entity]:
    for mention in mentions:
        problem = _misplaced(mention, len(sentence.tokens), where)
        if problem:
            ledger.error(problem)
            continue
        pairs = [(sentence.tokens[first].start, sentence.tokens[end - 1].end) for first, end in mention.ranges]
        entity = build_entity(
            mention.label,
            pairs,
            text,
            ledger=ledger,
            path=where.path or "",
            line=where.line,
            document=where.document,
        )
        if entity is not None:
            yield entity


def _misplaced(mention: Mention, n_tokens: int, where: Where) -> BadInput | None:
    for first, end in mention.ranges:
        if not 0 <= first < end <= n_tokens:
            return BadInput(
                "bad-offset",
                "A mention ends before it starts" if end <= first else "A mention lies outside its sentence",
                where=where,
                got=f"{mention.label} on tokens {first} to {end - 1}",
                expected=f"positions 0 to {n_tokens - 1}, counted within the sentence",
                fix="Check that positions count from 0, and that the last one is inclusive.",
            )
    return None


def check_words(words: Any, where: Where) -> None:
    """`BadInput` unless this is an array of strings."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadInput(
            "bad-syntax", "This is not a sentence", where=where, got=excerpt(words), expected="an array of words"
        )


@dataclass(frozen=True, slots=True)
class TokenSentence:
    """A sentence to be written: its words as the text has them, its entities by token positions."""

    words: list[str]
    entities: list[TokenEntity]
    sentence: Sentence


def to_sentences(document: Document, ledger: Ledger, extras_kept: str | None = None) -> list[TokenSentence]:
    """The sentences of a document, segmented if necessary. What tokens cannot represent is counted as lost."""
    for name in document.extras.keys() - {extras_kept}:
        ledger.lost(f"documents' {name} extras")
    document = segment(document)
    aligned, unaligned = align(document)
    for entity in unaligned:
        ledger.lost(f"entities ({entity.reason})")
    ledger.lost("entity ids", sum(entity.id is not None for entity in document.entities))
    ledger.lost("entity scores", sum(entity.score is not None for entity in document.entities))
    found = []
    for sentence, entities in zip(document.sentences or (), aligned, strict=True):
        words = [document.text[start:end] for start, end in sentence.tokens]
        ledger.lost("sentences respaced", " ".join(words) != document.text[sentence.start : sentence.end])
        found.append(TokenSentence(words, [_joined(entity, ledger) for entity in entities], sentence))
    return found


def _joined(entity: TokenEntity, ledger: Ledger) -> TokenEntity:
    """An entity whose fragments have at least a token between them, as positions cannot tell them apart otherwise."""
    ranges = merge_adjacent(entity.ranges)
    ledger.lost("gaps without a token", len(entity.ranges) - len(ranges))
    return TokenEntity(entity.label, ranges, entity.entity)


def sentences_with_words(document: Document, ledger: Ledger, extras_kept: str | None = None) -> list[TokenSentence]:
    """The sentences of a document for a format without dependency trees, in which a sentence has words."""
    sentences = to_sentences(document, ledger, extras_kept)
    ledger.lost("documents without words", not any(sentence.words for sentence in sentences))
    ledger.lost("sentences without words", sum(not sentence.words for sentence in sentences))
    note_trees(document, ledger)
    return [sentence for sentence in sentences if sentence.words]


def plain(text: str, unwanted: re.Pattern[str], what: str, ledger: Ledger) -> str:
    """`text` with an underscore for each run of characters that the format cannot hold; a change is counted."""
    changed = unwanted.sub("_", text)
    ledger.lost(f"{what} rewritten", changed != text)
    return changed


def lines_of(member: Member) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; a byte order mark does not belong to the first word."""
    for number, line in member.lines():
        yield number, line.removeprefix(BOM) if number == 1 else line


def text_writer(write_text: Callable[[Iterable[Document], Ledger], Iterator[str]]) -> Writer:
    """A writer for formats that are one text, given piece by piece."""

    def encodable(documents: Iterable[Document], ledger: Ledger) -> Iterator[Document]:
        for document in documents:
            cleaned, n_halves = without_halves(document)
            ledger.lost(REPLACED, n_halves)
            yield cleaned

    def write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
        for number, piece in enumerate(write_text(encodable(documents, ledger), ledger)):
            if number == 0 and piece.startswith(BOM):
                stream.write(BOM.encode())  # readers take the first one away: see `lines_of`
            stream.write(piece.encode())

    return stream_writer(write)


Block = list[tuple[int, str]]  # lines with their numbers


def blocks(member: Member) -> Iterator[Block]:
    """The blocks of a file, none of them empty."""
    block: Block = []
    for number, line in lines_of(member):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block
