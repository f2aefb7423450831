"""What the span model can express at best: gold entities → targets → decoder → entities."""

from __future__ import annotations

from collections.abc import Iterable

from disconer.span.decode import assemble
from disconer.span.targets import span_targets
from disconer.text.align import TokenEntity, align, to_fragments
from disconer.types import Document, Fragment, Sentence

Key = tuple[str, tuple[Fragment, ...]]


def oracle(document: Document, max_width: int | None = None) -> set[Key]:
    """The entities that a faultless model with this width limit would find in a segmented document.

    Gold that tokens cannot express, that crosses a sentence boundary or is wider than the limit is missing;
    what cliques cannot tell apart is wrong.
    """
    found: set[Key] = set()
    aligned, _ = align(document)
    for sentence, entities in zip(document.sentences or (), aligned, strict=True):
        found |= sentence_oracle(sentence, entities, max_width)
    return found


def sentence_oracle(sentence: Sentence, entities: Iterable[TokenEntity], max_width: int | None = None) -> set[Key]:
    """What a faultless model would find in one sentence."""
    targets = span_targets(entities, max_width)
    return {
        (entity.label, to_fragments(entity.ranges, sentence))
        for entity in assemble(targets.spans, targets.labels, targets.succession)
    }
