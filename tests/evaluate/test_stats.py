from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from disconer import Document, Entity, Kind
from disconer.evaluate.stats import Histogram, Stats, stats, survey
from disconer.text import segment
from strategies import documents, tokenised_documents

#         0         1         2         3
#         0123456789012345678901234567890123456789
NOTE = "Severe pain in hands and feet. No rash."


def note(*entities: Entity) -> Document:
    return Document("d", NOTE, entities)


def test_counts_what_a_note_holds() -> None:
    counted = stats(
        [
            note(
                Entity("ADR", ((0, 20),)),  # Severe pain in hands
                Entity("ADR", ((0, 11), (25, 29))),  # Severe pain … feet, with "in hands and" between
                Entity("Negation", ((31, 33),)),  # No
                Entity("ADR", ((25, 33),)),  # feet. No: across sentences
            )
        ]
    )
    assert (counted.documents, counted.characters, counted.sentences, counted.tokens) == (1, 39, 2, 10)
    assert counted.entities == 4
    assert counted.labels == {
        "ADR": {Kind.OVERLAPPED: 2, Kind.DISCONTINUOUS: 1},
        "Negation": {Kind.OVERLAPPED: 1},
    }
    assert counted.kinds == {Kind.OVERLAPPED: 3, Kind.DISCONTINUOUS: 1}
    assert counted.fragments.counts == {1: 3, 2: 1}
    assert counted.gaps.counts == {3: 1}
    assert counted.fragment_widths.counts == {4: 1, 2: 1, 1: 2, 3: 1}
    assert counted.entity_widths.counts == {4: 1, 6: 1, 1: 1, 3: 1}
    assert counted.sentence_lengths.counts == {7: 1, 3: 1}
    assert counted.crossing_sentences == 1


def test_fragments_within_one_token_have_nothing_between_them() -> None:
    counted = stats([Document("d", "hypertension", (Entity("A", ((0, 2), (5, 8))),))])
    assert counted.gaps.counts == {0: 1}
    assert counted.entity_widths.counts == {1: 1}


def test_sentences_that_come_with_the_document_are_kept() -> None:
    document = segment(Document("d", "No AS. No AR."), splitter=lambda text: [(0, len(text))])
    assert stats([document]).sentences == 1


def test_nothing() -> None:
    empty = stats([]).to_dict()
    assert empty["entities"] == 0
    assert empty["kinds"]["regular"] == {"count": 0, "percent": 0.0}
    assert empty["gaps"] == {"mean": 0.0, "median": 0, "p95": 0, "max": 0, "counts": {}}


@settings(max_examples=50)
@given(found=st.lists(documents() | tokenised_documents(), max_size=4), cut=st.integers(0, 4))
def test_parts_add_up_to_the_whole(found: list[Document], cut: int) -> None:
    merged = Stats()
    for part in (found[:cut], found[cut:]):
        merged.merge(stats(part))
    whole = stats(found)
    assert merged == whole
    assert whole.entities == sum(len(document.entities) for document in found)
    assert whole.fragment_widths.n == sum(len(entity.fragments) for d in found for entity in d.entities)
    assert whole.gaps.n == whole.fragment_widths.n - whole.entities
    assert json.loads(json.dumps(whole.to_dict())) == whole.to_dict()


@given(values=st.lists(st.integers(0, 30), min_size=1), share=st.floats(0.01, 1))
def test_quantile_is_the_smallest_number_that_the_share_is_not_above(values: list[int], share: float) -> None:
    histogram = Histogram()
    histogram.counts.update(values)
    found = histogram.quantile(share)
    assert sum(value <= found for value in values) >= share * len(values)
    assert sum(value < found for value in values) < share * len(values)
    assert (histogram.max, histogram.n) == (max(values), len(values))
    assert histogram.between(3, 7) == sum(3 <= value <= 7 for value in values)


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
