"""The oracle of a whole document."""

from __future__ import annotations

from disconer import Document
from disconer.nn.heads.span.oracle import Key, sentence_oracle
from disconer.text.alignment import align


def oracle(document: Document, max_width: int | None = None) -> set[Key]:
    """The entities that a faultless model with this width limit would find in a segmented document."""
    found: set[Key] = set()
    aligned, _ = align(document)
    for sentence, entities in zip(document.sentences or (), aligned, strict=True):
        found |= sentence_oracle(sentence, entities, max_width)
    return found
