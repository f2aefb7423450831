"""Parsers for tests, and sentences for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from disconer.core.types import Document
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.text.syntax.parser import Identity, Parse, Unparsed, Words


def words_of(text: str) -> Words:
    """The words of a text that is one sentence."""
    (sentence,) = segment(Document("d", text), SPLITTERS["lines"]).sentences or ()
    return Words.of(text, sentence)


def plain_words(*texts: str) -> Words:
    return Words(texts, (*[True] * (len(texts) - 1), False))


def chain(words: Words) -> Parse:
    """Every word hangs on the next."""
    n = len(words)
    return Parse(words.texts, (*range(1, n), -1), (*["dep"] * (n - 1), "root"))


class FakeParser:
    """Answers as told, and remembers what it was asked."""

    name = "fake:parser"

    def __init__(self, answer: Callable[[Words], Parse | Unparsed] = chain, version: str = "1") -> None:
        self.answer, self.version = answer, version
        self.asked: list[Words] = []

    def identity(self) -> Identity:
        return Identity("fake", "parser", self.version)

    def parse(self, sentences: Sequence[Words]) -> Iterator[Parse | Unparsed]:
        for words in sentences:
            self.asked.append(words)
            yield self.answer(words)


def document(*sentences: str, id: str = "d") -> Document:
    """A segmented document of sentences, one a line, their words parted by whitespace."""
    return segment(Document(id, "\n".join(sentences)), SPLITTERS["lines"], TOKENIZERS["whitespace"])
