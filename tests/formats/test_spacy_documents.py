"""From a Document to a Doc and back, as people do it in Python."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'disconer[spacy]'")

from hypothesis import example, given

from annotated import TEXT, annotated
from disconer import Document, Entity
from disconer.spacy import entities_of, to_doc, to_document
from spacy_docs import SHARED, mentions, pipeline
from strategies import documents


@given(document=documents())
@example(document=Document("space before", "ab cd", (Entity("ADR", ((2, 5),), "T1"),)))
@example(document=Document("space after", "ab cd", (Entity("ADR", ((0, 3),), "T1"),)))
def test_a_doc_has_the_very_text_and_entities(document: Document) -> None:
    doc = to_doc(document, SHARED.vocab)
    assert doc.text == document.text
    fragments = [fragment for entity in document.entities for fragment in entity.fragments]
    assert [(span.start_char, span.end_char) for span in doc.spans["disconer"]] == fragments
    assert entities_of(doc) == document.entities
    assert to_document(doc) == document


def test_the_key_of_the_span_group_can_be_chosen() -> None:
    document = annotated("ADR: pain … hands", "ADR: itching")
    doc = to_doc(document, SHARED.vocab, key="gold")
    assert list(doc.spans) == ["gold"]
    assert to_document(doc) == to_document(doc, key="gold") == document


def test_what_a_pipeline_found_is_a_document_too() -> None:
    nlp, _ = pipeline(mentions("ADR: pain … hands", "ADR: pain in knees"))
    nlp.add_pipe("sentencizer", config={"punct_chars": ["\n"]})
    document = to_document(nlp(TEXT), id="note-1")
    assert (document.id, document.text) == ("note-1", TEXT)
    assert [entity.text for entity in document.entities] == ["pain hands", "pain in knees"]
    assert [TEXT[sentence.start : sentence.end] for sentence in document.sentences or ()] == TEXT.splitlines()


def test_gold_and_predictions_fit_into_one_doc() -> None:
    """As spaCy's own evaluation has it: two span groups of one text."""
    nlp, _ = pipeline(mentions("ADR: pain … hands", "ADR: pain in knees"))
    doc = nlp.get_pipe("disconer")(to_doc(annotated("ADR: pain … hands"), nlp.vocab, key="gold"))
    assert set(entities_of(doc, "gold")) & {Entity(e.label, e.fragments) for e in entities_of(doc, "disconer")}
    assert len(doc.spans["disconer"]) == 3
