"""The layers of CRAFT: concepts in Knowtator XML of two kinds, sentences and trees in CoNLL-U.

Knowtator 1, every ontology but MONDO:
    <annotations textSource="1.txt"><annotation><mention id="a"/><span start="0" end="7"/><span start="12" end="17"/>
      <spannedText>somatic ... cells</spannedText></annotation> … </annotations>
Knowtator 2, MONDO:
    <knowtator-project><document id="1"><annotation id="a"><class id="…"/><span start="0" end="7">somatic</span> …
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.types import Sentence, Token
from disconer.formats.source import Member
from disconer.formats.xml import parse_xml

_ELLIPSIS = " ... "  # between the fragments of a mention's text in Knowtator 1
_N_COLUMNS = 10  # of a CoNLL-U line


class Mention(NamedTuple):
    """A concept's place in the text and, as the file has it, its words."""

    pairs: tuple[tuple[int, int], ...]
    surface: str


def read_mentions(file: Member) -> Iterator[Mention]:
    """The mentions of a Knowtator file."""
    root = parse_xml(file.read(), file.origin)
    if root.tag not in ("annotations", "knowtator-project"):
        raise BadInput(
            "bad-syntax",
            "This is not a Knowtator file",
            where=Where(file.origin),
            got=f"<{root.tag}>",
            expected="<annotations> (Knowtator 1) or <knowtator-project> (Knowtator 2)",
        )
    for annotation in root.iter("annotation"):
        spans = annotation.findall("span")
        texts = [annotation.findtext("spannedText", "").replace(_ELLIPSIS, " ")]
        if root.tag == "knowtator-project":
            texts = [span.text or "" for span in spans]
        yield Mention(tuple(_offsets(span, file) for span in spans), " ".join(texts))


def _offsets(span: Element, file: Member) -> tuple[int, int]:
    try:
        return int(span.attrib["start"]), int(span.attrib["end"])
    except (KeyError, ValueError) as error:
        raise BadInput(
            "bad-syntax",
            "A <span> needs a start and an end, both numbers",
            where=Where(file.origin),
            got=excerpt(span.attrib),
        ) from error


class Word(NamedTuple):
    """A line of CoNLL-U: the word, its head (0-based, -1 for the root) and the relation to it."""

    line: int
    form: str
    head: int
    relation: str


def read_sentences(file: Member, text: str) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, its words found in the text one after the other."""
    end = 0
    for words in _blocks(file):
        tokens = []
        for word in words:
            start = _skip_blanks(text, end)
            end = start + len(word.form)
            if text[start:end] != word.form:
                raise BadInput(
                    "text-mismatch",
                    "The words of this file are not those of the article",
                    where=Where(file.origin, word.line, start),
                    got=excerpt(word.form),
                    expected=excerpt(text[start : start + len(word.form) + 10]),
                    fix="Check that articles and trees are of the same version of the corpus.",
                )
            tokens.append(Token(start, end))
        try:
            heads, relations = [word.head for word in words], [word.relation for word in words]
            yield Sentence(tokens[0].start, tokens[-1].end, tuple(tokens), tuple(heads), tuple(relations))
        except ValueError as error:
            raise BadInput("bad-syntax", str(error), where=Where(file.origin, words[0].line)) from error


def _skip_blanks(text: str, start: int) -> int:
    while text[start : start + 1].isspace():
        start += 1
    return start


def _blocks(file: Member) -> Iterator[list[Word]]:
    """The sentences of a CoNLL-U file. Its comments, and the lines of contractions and empty nodes, are passed over."""
    block: list[Word] = []
    for number, line in file.lines():
        if not line.strip():
            if block:
                yield block
            block = []
        elif not line.startswith("#"):
            word = _word(line, Where(file.origin, number))
            if word is not None:
                block.append(word)
    if block:
        yield block


def _word(line: str, where: Where) -> Word | None:
    columns = line.split("\t")
    if len(columns) == _N_COLUMNS and not columns[0].isdecimal():  # 3-4 a contraction, 8.1 an empty node
        return None
    if len(columns) != _N_COLUMNS or not columns[6].isdecimal() or not columns[1].strip():
        raise BadInput(
            "bad-syntax",
            "This is not a line of CoNLL-U",
            where=where,
            got=excerpt(line),
            expected=f"{_N_COLUMNS} columns between tabs, the second a word, the seventh the number of its head",
        )
    return Word(where.line or 0, columns[1], int(columns[6]) - 1, columns[7])
