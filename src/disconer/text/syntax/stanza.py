"""Trees from Stanza."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from disconer.core.errors import DisconerError, excerpt
from disconer.text.syntax.parser import Identity, Parse, Unparsed, Words
from disconer.text.syntax.spec import ParserSpec

PROCESSORS = "tokenize,pos,lemma,depparse"  # what its parser needs
BATCH = 256  # sentences; it makes batches of words of its own


class StanzaParser:
    """A Stanza pipeline on our words.

    language: such as en, or en/craft with the package (the models trained on one corpus) after a slash.
    """

    def __init__(self, language: str) -> None:
        self.name = str(ParserSpec("stanza", language))
        self._language, _, self._package = language.partition("/")
        if importlib.util.find_spec("stanza") is None:
            raise DisconerError(
                f"The parser {self.name} needs Stanza",
                fix=f"Install it: pip install stanza, then {self._how_to_download()}.",
            )

    def identity(self) -> Identity:
        try:
            installed = version("stanza")
        except PackageNotFoundError:
            installed = ""
        return Identity("stanza", self.name, installed)

    def parse(self, sentences: Sequence[Words]) -> Iterator[Parse | Unparsed]:
        for first in range(0, len(sentences), BATCH):
            yield from self._answers(sentences[first : first + BATCH])

    def _answers(self, sentences: Sequence[Words]) -> list[Parse | Unparsed]:
        """Answers for sentences. If they cannot be parsed together, each is tried alone."""
        try:
            found = self._nlp([list(words.texts) for words in sentences]).sentences
            if len(found) != len(sentences):
                raise ValueError(f"{len(found)} sentences for {len(sentences)}")
            return [_parse_of(sentence) for sentence in found]
        except DisconerError:
            raise
        except Exception as error:  # memory, a device, text that its models were not made for
            if len(sentences) > 1:
                return [answer for words in sentences for answer in self._answers([words])]
            # Only the kind of error: its words may quote the text, and land in logs.
            return [Unparsed(f"Stanza failed: {type(error).__name__}", lasting=False)]

    @cached_property
    def _nlp(self) -> Any:
        stanza = importlib.import_module("stanza")
        try:
            return stanza.Pipeline(
                lang=self._language,
                package=self._package or "default",
                processors=PROCESSORS,
                tokenize_pretokenized=True,
                download_method=None,  # missing models are reported, not downloaded
                verbose=False,
            )
        except Exception as error:
            raise DisconerError(
                f"Stanza has no pipeline for {self.name}",
                got=excerpt(str(error) or type(error).__name__, 160),
                fix=f"Get its models once: {self._how_to_download()}; without internet, copy the folder "
                "stanza_resources and set $STANZA_RESOURCES_DIR to it.",
            ) from error

    def _how_to_download(self) -> str:
        package = f", package={self._package!r}" if self._package else ""
        return f'python -c "import stanza; stanza.download({self._language!r}{package})"'

    def __reduce__(self) -> tuple[Any, ...]:
        return StanzaParser, (self.name.partition(":")[2],)  # a loaded pipeline is not pickled


def _parse_of(sentence: Any) -> Parse:
    """Stanza counts words from 1, and 0 is the root."""
    return Parse(
        tuple([word.text for word in sentence.words]),
        tuple([word.head - 1 for word in sentence.words]),
        tuple([word.deprel for word in sentence.words]),
    )
