"""Trees from CoNLL-U files, found by the characters of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from disconer.text.syntax.parser import Identity, Parse, Unparsed, Words
from disconer.text.syntax.spec import ParserSpec


class ConlluParser:
    """The trees of a file, folder or archive of CoNLL-U.

    A sentence is found if it has the same characters, whatever its whitespace and tokens.
    If a sentence occurs again with another tree, the first tree is used.
    """

    def __init__(self, path: str) -> None:
        self.name = str(ParserSpec("conllu", path))
        self._path = path
        self._parses = _read(path)

    def identity(self) -> Identity | None:
        return None  # reading the file again is as fast as a cache

    def parse(self, sentences: Sequence[Words]) -> Iterator[Parse | Unparsed]:
        missing = Unparsed(f"not among the sentences of {self._path}")
        for words in sentences:
            yield self._parses.get("".join(words.texts), missing)


def _read(path: str) -> dict[str, Parse | Unparsed]:
    from disconer.formats import read  # here, because formats also import syntax

    without_heads = Unparsed(f"no tree in {path}")
    parses: dict[str, Parse | Unparsed] = {}
    for document in read(path, "conllu"):
        for sentence in document.sentences or ():
            words = Words.of(document.text, sentence)
            parse = None
            if sentence.heads is not None and sentence.relations is not None:
                parse = Parse(words.texts, sentence.heads, sentence.relations)
            parses.setdefault("".join(words.texts), parse or without_heads)
    return parses
