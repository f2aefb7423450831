"""From the entities of a sentence to what the span model learns: fragment labels and fragment relations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from disconer.evaluate.ceiling import WordEntity
from disconer.text.alignment import Range

Pair = tuple[int, int]  # positions in `SpanTargets.spans`, the smaller first


@dataclass(frozen=True, slots=True)
class SpanTargets:
    """The fragments of a sentence's entities and how they relate.

    spans: the token ranges that are a fragment of some entity, sorted.
    labels: of each span, the labels of the entities that it is a fragment of (one span may have several).
    succession: pairs of spans that are fragments of one entity.
    """

    spans: tuple[Range, ...]
    labels: tuple[tuple[str, ...], ...]
    succession: frozenset[Pair]


def span_targets(entities: Iterable[WordEntity], max_width: int | None = None) -> SpanTargets:
    """The targets of one sentence; fragments wider than `max_width` tokens are out of the model's reach.

    entities: label and token ranges of each.
    """
    entities = list(entities)
    labels: dict[Range, set[str]] = {}
    for label, ranges in entities:
        for span in ranges:
            if max_width is None or span[1] - span[0] <= max_width:
                labels.setdefault(span, set()).add(label)
    spans = tuple(sorted(labels))
    position = {span: number for number, span in enumerate(spans)}
    succession = frozenset(
        pair
        for _, ranges in entities
        for pair in combinations([position[span] for span in ranges if span in position], 2)
    )
    return SpanTargets(spans, tuple(tuple(sorted(labels[span])) for span in spans), succession)
