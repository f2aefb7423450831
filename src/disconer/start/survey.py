"""What training data holds, as far as a configuration depends on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from disconer.core.types import Document
from disconer.text import SPLITTERS, segment
from disconer.text.alignment import Range, TokenEntity, align

COVERED = 0.99  # share of the fragments that a width limit must reach
NARROWEST = 6  # the paper's narrowest limit: a small sample must not bind a model more tightly
SEVERAL = 0.01  # share of the spans with two labels from which a model should give several
WORTH_LINES = 0.005  # share of the entities that sentences by lines must save to be preferred to those by rules


@dataclass(slots=True)
class Survey:
    """Counts over documents; those without sentences are cut by one splitter."""

    splitter: str
    documents: int = 0
    words: int = 0
    parsed: int = 0  # sentences with heads
    entities: int = 0
    unaligned: int = 0  # entities that the words of one sentence cannot express
    labels: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    widths: Counter[int] = field(default_factory=Counter)  # of spans, each once, in words
    several: int = 0  # spans with more than one label

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
            self._add_spans(entities)

    def _add_spans(self, entities: Iterable[TokenEntity]) -> None:
        labels: dict[Range, set[str]] = {}
        for entity in entities:
            for span in entity.ranges:
                labels.setdefault(span, set()).add(entity.label)
        self.widths.update(end - first for first, end in labels)
        self.several += sum(len(own) > 1 for own in labels.values())

    @property
    def max_width(self) -> int:
        """The narrowest limit that reaches enough of the fragments."""
        width = next((width for width in sorted(self.widths) if self.covered(width) >= COVERED), NARROWEST)
        return max(width, NARROWEST)

    def covered(self, width: int) -> float:
        """Share of the fragments that are not wider than `width` words."""
        total = self.widths.total()
        return sum(count for own, count in self.widths.items() if own <= width) / total if total else 1.0

    @property
    def several_share(self) -> float:
        total = self.widths.total()
        return self.several / total if total else 0.0


def survey(documents: Iterable[Document]) -> Survey:
    """What these documents hold, cut by the splitter that suits them."""
    rules, lines = Survey("rules"), Survey("lines")
    for document in documents:
        for found in (rules, lines):
            found.add(segment(document, SPLITTERS[found.splitter]))
    return lines if rules.unaligned - lines.unaligned > WORTH_LINES * rules.entities else rules
