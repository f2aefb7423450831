from __future__ import annotations

from collections import Counter

import pytest

from disconer import Document, Entity
from disconer.start.propose import Survey, survey


def document(text: str, *mentions: tuple[str, str]) -> Document:
    """Every mention is a label and the words it covers, looked up in the text."""
    found = [Entity(label, ((text.index(words), text.index(words) + len(words)),)) for label, words in mentions]
    return Document("d", text, tuple(found))


@pytest.mark.parametrize(
    ("widths", "limit"),
    [({1: 99, 9: 1}, 6), ({1: 98, 9: 2}, 9), ({7: 990, 8: 9, 30: 1}, 7), ({2: 1}, 6), ({}, 6)],
)
def test_the_width_limit_reaches_99_percent_and_is_never_under_6(widths: dict[int, int], limit: int) -> None:
    assert Survey("rules", widths=Counter(widths)).max_width == limit


def test_spans_with_several_labels_are_counted_once() -> None:
    found = survey(
        [document("aspirin helped a lot", ("Drug", "aspirin"), ("Treatment", "aspirin"), ("Effect", "helped"))]
    )
    assert found.widths == {1: 2}
    assert found.several_share == 0.5
    assert found.labels == {"Drug": 1, "Treatment": 1, "Effect": 1}
    assert found.kinds == {"overlapped": 2, "regular": 1}


def test_rules_are_preferred_unless_lines_save_entities() -> None:
    plain = document("He felt pain. It went away.", ("Symptom", "pain"))
    assert survey([plain]).splitter == "rules"
    crossing = document("He felt pain. It went away.", ("Symptom", "pain. It went"))
    found = survey([crossing])
    assert (found.splitter, found.unaligned) == ("lines", 0)


def test_entities_that_cut_words_are_out_of_reach() -> None:
    found = survey([document("painless", ("Symptom", "pain"))])
    assert (found.entities, found.unaligned, found.widths) == (1, 1, {})
