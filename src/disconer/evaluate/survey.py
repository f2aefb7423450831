"""What training data holds, as far as a first configuration depends on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from disconer.core.types import Document
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.text.alignment import TokenEntity, align

WORTH_LINES = 0.005  # share of the entities that sentences by lines must save to be preferred to those by rules


class AnnotatedSentence(NamedTuple):
    """A sentence as heads see it: how many words it has, and its entities."""

    n_words: int
    entities: list[TokenEntity]


@dataclass(slots=True)
class Survey:
    """Counts over documents; those without sentences are cut by one splitter.

    unaligned: entities that the words of one sentence cannot express.
    parsed: sentences with dependency heads.
    sentences: those with entities.
    """

    splitter: str
    documents: int = 0
    words: int = 0
    parsed: int = 0
    entities: int = 0
    unaligned: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    sentences: list[AnnotatedSentence] = field(default_factory=list)

    def add(self, document: Document) -> None:
        """Count a document that has sentences."""
        self.documents += 1
        self.entities += len(document.entities)
        self.labels.update(entity.label for entity in document.entities)
        self.kinds.update(entity.kind.value for entity in document.entities if entity.kind)
        aligned, unaligned = align(document)
        self.unaligned += len(unaligned)
        for sentence, entities in zip(document.sentences or (), aligned, strict=True):
            self.words += len(sentence.tokens)
            self.parsed += sentence.heads is not None
            if entities:
                self.sentences.append(AnnotatedSentence(len(sentence.tokens), entities))


def survey(documents: Iterable[Document], tokenizer: str = "words") -> Survey:
    """What these documents hold, cut by the splitter that suits them."""
    rules, lines = Survey("rules"), Survey("lines")
    for document in documents:
        for found in (rules, lines):
            found.add(segment(document, SPLITTERS[found.splitter], TOKENIZERS[tokenizer]))
    return lines if rules.unaligned - lines.unaligned > WORTH_LINES * rules.entities else rules
