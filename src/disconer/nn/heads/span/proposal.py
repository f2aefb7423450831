"""The settings of a span head that suit some data."""

from __future__ import annotations

from collections import Counter

from disconer.evaluate.survey import Survey
from disconer.nn.heads.kind import Proposal
from disconer.nn.heads.span.settings import SpanSettings
from disconer.text.alignment import Range

COVERED = 0.99  # share of the fragments that a width limit must reach
NARROWEST = 6  # the paper's narrowest limit: a small sample must not bind a model more tightly
MULTILABEL = 0.01  # share of the spans with two labels from which a model should give more than one


def propose_spans(survey: Survey, settings: SpanSettings) -> Proposal[SpanSettings]:
    """The narrowest limit that reaches enough of the fragments, and multilabel where the data is."""
    widths, multilabel = _spans(survey)
    limit = width_limit(widths)
    labels = "many" if multilabel > MULTILABEL else "one"
    return Proposal(
        settings.model_copy(update={"max_width": limit, "labels": labels}),
        [
            f"Spans up to {limit} words: {_covered(widths, limit):.1%} of the fragments.",
            f"Labels per span: {labels}; {multilabel:.1%} of the spans have more than one.",
        ],
    )


def _spans(survey: Survey) -> tuple[Counter[int], float]:
    """The widths of all fragments in words, each span once, and the share of those with more than one label."""
    widths: Counter[int] = Counter()
    multilabel = 0
    for sentence in survey.sentences:
        labels: dict[Range, set[str]] = {}
        for entity in sentence.entities:
            for span in entity.ranges:
                labels.setdefault(span, set()).add(entity.label)
        widths.update(end - first for first, end in labels)
        multilabel += sum(len(own) > 1 for own in labels.values())
    return widths, multilabel / max(1, widths.total())


def width_limit(widths: Counter[int]) -> int:
    """The narrowest limit that reaches enough of the fragments.

    >>> width_limit(Counter({1: 98, 9: 2})), width_limit(Counter({1: 99, 9: 1}))
    (9, 6)
    """
    width = next((width for width in sorted(widths) if _covered(widths, width) >= COVERED), NARROWEST)
    return max(width, NARROWEST)


def _covered(widths: Counter[int], limit: int) -> float:
    total = widths.total()
    return sum(count for width, count in widths.items() if width <= limit) / total if total else 1.0
