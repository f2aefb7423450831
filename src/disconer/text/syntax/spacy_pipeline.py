"""A loaded spaCy pipeline: words in, trees out."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from disconer.core.errors import DisconerError, excerpt
from disconer.text.syntax.parser import Parse, Unparsed
from disconer.text.syntax.words import Words

ROOT = -1
# Usual names of components that no parser needs: not even loaded.
UNUSED = ["ner", "tagger", "morphologizer", "lemmatizer", "trainable_lemmatizer", "attribute_ruler", "senter"]
HEADS = "token.head"  # what a component assigns that is a parser


class Pipeline:
    """The parser of a pipeline and what it stands on."""

    def __init__(self, name: str) -> None:
        self._nlp = _load(name)
        self._one_at_a_time = Lock()  # memory zones do not nest, and a service may have several threads

    def parse(self, sentences: Sequence[Words]) -> list[Parse | Unparsed]:
        """Answers for sentences. Where they cannot be parsed together, each is tried alone."""
        try:
            return self._parse(sentences)
        except Exception as error:  # a component may raise anything about text that it is not made for
            if len(sentences) > 1:
                return [answer for words in sentences for answer in self.parse([words])]
            return [Unparsed(f"spaCy failed: {excerpt(str(error) or type(error).__name__, 120)}", lasting=False)]

    def _parse(self, sentences: Sequence[Words]) -> list[Parse | Unparsed]:
        from spacy.tokens import Doc

        vocab = self._nlp.vocab
        with self._one_at_a_time, self._nlp.memory_zone():  # forgets words afterwards: a service reads many
            docs = [
                Doc(vocab, [*words.texts], [*words.spaces], sent_starts=[True, *[False] * (len(words) - 1)])
                for words in sentences
            ]
            return [_parse_of(doc) for doc in self._nlp.pipe(docs)]


def _parse_of(doc: Any) -> Parse:
    heads = [token.head.i for token in doc]
    return Parse(
        tuple([token.text for token in doc]),
        tuple([ROOT if head == word else head for word, head in enumerate(heads)]),
        tuple([token.dep_ for token in doc]),
    )


def _load(name: str) -> Any:
    import spacy

    try:
        nlp = spacy.load(name, exclude=UNUSED)
    except Exception as error:  # of its own: other versions, missing registered functions, damaged files
        raise DisconerError(
            f"The spaCy pipeline {name!r} cannot be loaded",
            got=excerpt(str(error) or type(error).__name__, 160),
            fix="Install it again, in a version that fits the installed spaCy (python -m spacy validate).",
        ) from error
    parser = next((pipe for pipe in nlp.pipe_names if HEADS in nlp.get_pipe_meta(pipe).assigns), None)
    if parser is None:
        raise DisconerError(
            f"The spaCy pipeline {name!r} has no parser",
            got=f"the components {', '.join(nlp.pipe_names) or '(none)'}",
            fix="Choose another with syntax.parser.",
        )
    for pipe in nlp.pipe_names:
        if pipe != parser and parser not in getattr(nlp.get_pipe(pipe), "listening_components", ()):
            nlp.remove_pipe(pipe)
    return nlp
