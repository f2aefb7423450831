"""What the span model can express at best: gold entities → targets → decoder → entities."""

from __future__ import annotations

from disconer.span.decode import assemble
from disconer.span.targets import span_targets
from disconer.text.align import align, to_fragments
from disconer.types import Document, Fragment

Key = tuple[str, tuple[Fragment, ...]]


def oracle(document: Document, max_width: int | None = None) -> set[Key]:
    """The entities that a faultless model with this width limit would find in a segmented document.

    Gold that tokens cannot express, that crosses a sentence boundary or is wider than the limit is missing;
    what cliques cannot tell apart is wrong.
    """
    found: set[Key] = set()
    aligned, _ = align(document)
    for sentence, entities in zip(document.sentences or (), aligned, strict=True):
        targets = span_targets(entities, max_width)
        for entity in assemble(targets.spans, targets.labels, targets.succession):
            found.add((entity.label, to_fragments(entity.ranges, sentence)))
    return found
