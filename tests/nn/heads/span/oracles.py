"""The oracle of a whole document, and of many widths."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from disconer import Document
from disconer.evaluate.check import Ceiling, Key
from disconer.nn.heads.span import SPAN
from disconer.nn.heads.span.kind import SpanSettings
from disconer.text.alignment import align, to_fragments


def oracle(document: Document, max_width: int | None = None) -> set[Key]:
    """The entities that a perfect model with this width limit would find in a segmented document."""
    found: set[Key] = set()
    aligned, _ = align(document)
    for sentence, entities in zip(document.sentences or (), aligned, strict=True):
        reach = SPAN.reach(entities, len(sentence.tokens), SpanSettings(max_width=max_width))
        found |= {(label, to_fragments(ranges, sentence)) for label, ranges in reach.found}
    return found


def width_ceiling(widths: Iterable[int | None]) -> Ceiling:
    """A ceiling by width limit."""
    return Ceiling({str(width): partial(SPAN.reach, settings=SpanSettings(max_width=width)) for width in widths})
