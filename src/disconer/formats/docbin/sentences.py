"""The sentences and words of a spaCy Doc, as ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy.tokens import Doc
from spacy.tokens import Token as SpacyToken

from disconer.core.types import Sentence, Token
from disconer.text import Splitter


def sentences_of(doc: Doc, splitter: Splitter | None = None) -> tuple[Sentence, ...] | None:
    """The sentences that a pipeline marked in a Doc, or else those that `splitter` finds; None if there is neither.

    Tokens that are only whitespace are left out. Heads come along where the Doc is parsed.
    """
    if len(doc) > 1 and doc.has_annotation("SENT_START"):  # spaCy calls shorter ones annotated, whatever they are
        stretches: Iterable[Iterable[SpacyToken]] = doc.sents
    elif splitter is not None:
        stretches = _split(doc, splitter)
    else:
        return None
    parsed = doc.has_annotation("DEP")
    found = []
    for stretch in stretches:
        words = [token for token in stretch if token.text.strip()]
        if words:
            found.append(_sentence(words, parsed))
    return tuple(found)


def _split(doc: Doc, splitter: Splitter) -> list[list[SpacyToken]]:
    """The tokens of each sentence. A token that reaches into the next sentence stays with the one it begins in."""
    ends = [end for _, end in splitter(doc.text)]
    stretches: list[list[SpacyToken]] = [[] for _ in [*ends, None]]
    number = 0
    for token in doc:
        while number < len(ends) and token.idx >= ends[number]:
            number += 1
        stretches[number].append(token)
    return stretches


def _sentence(words: Sequence[SpacyToken], parsed: bool) -> Sentence:
    tokens = tuple([Token(word.idx, word.idx + len(word)) for word in words])
    start, end = tokens[0].start, tokens[-1].end
    if not parsed:
        return Sentence(start, end, tokens)
    places = {word.i: place for place, word in enumerate(words)}
    heads = tuple([-1 if word.head.i == word.i else places.get(word.head.i, -1) for word in words])
    return Sentence(start, end, tokens, heads, tuple([word.dep_ for word in words]))
