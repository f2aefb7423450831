"""What the literature does to annotations before it trains: whole words, and each mention once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, Fragment, normalise


def to_whole_words(document: Document, ledger: Ledger) -> Document:
    """Widen fragments that cut a token to all of it, and take off whitespace at their ends.

    The document must have sentences. Fragments already on token boundaries stay as they are.
    """
    tokens = [token for sentence in document.sentences or () for token in sentence.tokens]
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]

    def fitted(fragment: Fragment) -> Fragment:
        first = bisect_right(ends, fragment.start)  # the first token that ends after the fragment's start
        last = bisect_left(starts, fragment.end) - 1  # the last token that starts before its end
        return Fragment(starts[first], ends[last])

    entities = []
    for entity in document.entities:
        fragments = tuple(fitted(fragment) for fragment in entity.fragments)
        if fragments != entity.fragments:
            ledger.repaired("mentions brought to word boundaries")
            entity = replace(entity, fragments=normalise(fragments, document.text))
        entities.append(entity)
    return document.replace(entities=tuple(entities))


def unique(entities: Sequence[Entity], ledger: Ledger) -> tuple[Entity, ...]:
    """Each label and fragments once, the first of them; the others are counted."""
    kept: dict[object, Entity] = {}
    for entity in entities:
        kept.setdefault(entity.key, entity)
    ledger.lost("annotations of a mention that is annotated already", len(entities) - len(kept))
    return tuple(kept.values())
