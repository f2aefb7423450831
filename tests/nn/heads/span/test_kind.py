from __future__ import annotations

from collections import Counter

import pytest

from disconer import Document, Entity
from disconer.evaluate.stats import survey
from disconer.nn.heads.span import SPAN
from disconer.nn.heads.span.kind import SpanSettings, width_limit


@pytest.mark.parametrize(
    ("widths", "limit"),
    [({1: 99, 9: 1}, 6), ({1: 98, 9: 2}, 9), ({7: 990, 8: 9, 30: 1}, 7), ({2: 1}, 6), ({}, 6)],
)
def test_the_width_limit_reaches_99_percent_and_is_never_under_6(widths: dict[int, int], limit: int) -> None:
    assert width_limit(Counter(widths)) == limit


@pytest.mark.parametrize(
    ("labels", "chosen", "share"), [(("Drug",), "one", "0.0%"), (("Drug", "Aim"), "many", "50.0%")]
)
def test_spans_with_more_than_one_label_are_counted_once(labels: tuple[str, ...], chosen: str, share: str) -> None:
    entities = [Entity(label, ((0, 7),)) for label in labels]
    found = survey([Document("d", "aspirin helped a lot", (*entities, Entity("Effect", ((8, 14),))))])
    settings, findings = SPAN.propose(found, SpanSettings(max_width=3, alpha=0.5))
    assert settings == SpanSettings(max_width=6, labels=chosen, alpha=0.5)
    assert findings == [
        "Spans up to 6 words: 100.0% of the fragments.",
        f"Labels per span: {chosen}; {share} of the spans have more than one.",
    ]
