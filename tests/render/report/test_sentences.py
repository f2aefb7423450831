from __future__ import annotations

from hypothesis import given

from annotated import LETTERS, TEXT, annotated, small_pairs
from disconer.core.types import Document, Sentence
from disconer.evaluate import mistakes
from disconer.render.marks import Standing
from disconer.render.report.sentences import WrongSentence, wrong_sentences

LINES = TEXT.split("\n")


def drawn(sentence: WrongSentence) -> list[str]:
    return [f"{mark.standing}: {mark.caption} {mark.entity.text}" for mark in sentence.marks]


def test_only_sentences_with_an_error() -> None:
    gold = annotated("ADR: pain", "ADR: itching")
    (sentence,) = wrong_sentences(gold, annotated("ADR: pain", "ADR: mild itching"))
    assert (sentence.document.id, sentence.start, sentence.text) == ("d", len(LINES[0]) + 1, LINES[1])
    assert [one.error.words for one in sentence.mistakes] == ["boundary"]
    assert list(wrong_sentences(gold, gold)) == []


def test_text_goes_on_where_an_error_does() -> None:
    (sentence,) = wrong_sentences(annotated("ADR: hands … itching"), annotated())
    assert sentence.text == LINES[0] + "\nmild itching"


def test_an_error_before_any_sentence_is_shown_by_itself() -> None:
    gold = annotated("ADR: pain").replace(sentences=(Sentence(31, 35, ()),))
    assert [sentence.text for sentence in wrong_sentences(gold, annotated())] == ["pain"]


def test_marks_say_what_is_right_missed_and_wrong() -> None:
    gold = annotated("ADR: severe pain", "Site: knees", "ADR: pain … hands")
    (sentence,) = wrong_sentences(gold, annotated("ADR: severe pain", "Site: knees", "Site: hands"))
    assert drawn(sentence) == [
        "right: ADR severe pain",
        "right: Site knees",
        "missed: − ADR missed pain hands",
        "wrong: + Site spurious hands",
    ]


def test_what_reaches_in_from_an_error_of_another_sentence_is_drawn_as_that_error() -> None:
    gold = annotated("ADR: hands … itching", "Site: left")
    first, second = wrong_sentences(gold, annotated())
    assert drawn(first) == ["missed: − ADR missed hands itching"]
    assert drawn(second) == ["missed: − ADR missed hands itching", "missed: − Site missed left"]


@given(pair=small_pairs())
def test_every_error_is_shown_once_and_its_entities_are_drawn(pair: tuple[Document, Document]) -> None:
    shown = list(wrong_sentences(*pair))
    assert sorted(map(repr, mistakes(*pair))) == sorted(repr(one) for sentence in shown for one in sentence.mistakes)
    for sentence in shown:
        assert sentence.text == LETTERS[sentence.start : sentence.end]
        missed = {mark.entity.key for mark in sentence.marks if mark.standing is Standing.MISSED}
        wrong = {mark.entity.key for mark in sentence.marks if mark.standing is Standing.WRONG}
        assert missed >= {entity.key for mistake in sentence.mistakes for entity in mistake.gold}
        assert wrong >= {entity.key for mistake in sentence.mistakes for entity in mistake.predicted}
