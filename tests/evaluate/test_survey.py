from __future__ import annotations

from disconer import Document, Entity
from disconer.evaluate.survey import survey


def document(text: str, *mentions: tuple[str, str]) -> Document:
    """Every mention is a label and the words it covers, looked up in the text."""
    found = [Entity(label, ((text.index(words), text.index(words) + len(words)),)) for label, words in mentions]
    return Document("d", text, tuple(found))


def test_labels_and_kinds_are_counted() -> None:
    found = survey(
        [document("aspirin helped a lot", ("Drug", "aspirin"), ("Treatment", "aspirin"), ("Effect", "helped"))]
    )
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
    assert (found.entities, found.unaligned, found.sentences) == (1, 1, [])
