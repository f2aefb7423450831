from __future__ import annotations

from hypothesis import given

from annotated import LETTERS, TEXT, annotated, small_pairs
from disconer.evaluate import mistakes
from disconer.evaluate.wrong import marked_stretches, wrong_sentences
from disconer.types import Document, Sentence

LINES = TEXT.split("\n")


def test_only_sentences_with_an_error() -> None:
    gold = annotated("ADR: pain", "ADR: itching")
    (sentence,) = wrong_sentences(gold, annotated("ADR: pain", "ADR: mild itching"))
    assert (sentence.document, sentence.start, sentence.text) == ("d", len(LINES[0]) + 1, LINES[1])
    assert [one.error.words for one in sentence.mistakes] == ["boundary"]
    assert list(wrong_sentences(gold, gold)) == []


def test_text_goes_on_where_an_error_does() -> None:
    (sentence,) = wrong_sentences(annotated("ADR: hands … itching"), annotated())
    assert sentence.text == LINES[0] + "\nmild itching"


def test_an_error_before_any_sentence_is_shown_by_itself() -> None:
    gold = annotated("ADR: pain").replace(sentences=(Sentence(31, 35, ()),))
    assert [sentence.text for sentence in wrong_sentences(gold, annotated())] == ["pain"]


def test_stretches_say_labels_and_what_is_wrong() -> None:
    gold = annotated("ADR: severe pain", "Site: knees", "ADR: pain … hands")
    (sentence,) = wrong_sentences(gold, annotated("ADR: severe pain", "Site: knees"))
    assert list(marked_stretches(sentence, sentence.gold)) == [
        ("severe ", ["ADR"], False),
        ("pain", ["ADR"], True),
        (" in ", [], False),
        ("knees", ["Site"], False),
        (" and ", [], False),
        ("hands", ["ADR"], True),
    ]
    assert [stretch for stretch, _, wrong in marked_stretches(sentence, sentence.predicted) if wrong] == []


@given(pair=small_pairs())
def test_every_error_is_shown_once_and_text_is_whole(pair: tuple[Document, Document]) -> None:
    shown = list(wrong_sentences(*pair))
    assert sorted(map(repr, mistakes(*pair))) == sorted(repr(one) for sentence in shown for one in sentence.mistakes)
    for sentence in shown:
        assert sentence.text == LETTERS[sentence.start : sentence.end]
        for entities in (sentence.gold, sentence.predicted):
            assert "".join(text for text, *_ in marked_stretches(sentence, entities)) == sentence.text
