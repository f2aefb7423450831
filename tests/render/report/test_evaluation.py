from __future__ import annotations

import json
from io import BytesIO

from hypothesis import given, settings

from annotated import LETTERS, TEXT, annotated, entity, small_pairs
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity
from disconer.evaluate import Evaluation, mistakes
from disconer.render.marks import Standing
from disconer.render.report import Report
from disconer.render.report.evaluation import WrongSentence, wrong_sentences
from disconer.render.report.figures import Epoch
from disconer.render.report.parts import CHUNK
from render.parsed_html import Element, parsed
from strategies import documents


def page_of(*pairs: tuple[Document, Document], epochs: list[Epoch] | None = None) -> str:
    evaluation, report, stream = Evaluation(), Report(), BytesIO()
    for pair in pairs:
        evaluation.add(*pair)
        report.add(*pair)
    report.write(stream, evaluation, facts={"gold": "dev.jsonl"}, epochs=epochs or [])
    return stream.getvalue().decode()


def articles(page: Element) -> list[Element]:
    """The wrong sentences, as the script would show them."""
    chunks = [json.loads(chunk.text) for chunk in page.all("script", "chunk")]
    return [parsed(article) for chunk in chunks for article in chunk]


def facts(page: Element) -> list[object]:
    (found,) = [json.loads(one.text) for one in page.all("script") if one.attributes.get("id") == "facts"]
    return list(found)


GOLD = annotated("ADR: pain … hands", "ADR: itching")
PREDICTED = GOLD.replace(entities=(entity("ADR: pain", score=0.5), entity("ADR: itching", score=0.9)))


def test_figures_errors_and_wrong_sentences() -> None:
    page = parsed(page_of((GOLD, PREDICTED)))
    assert "Wrong sentences: 1" in page.text
    assert "expected calibration error 30.0" in page.text
    assert [one.text for one in page.all("ul", "cards")[0].all("b")] == ["50.0", "50.0", "50.0", "0.0"]
    (article,) = articles(page)
    assert "missing fragment: ADR “pain … hands” → ADR “pain”" in article.text
    assert article.all("div", "line")[0].text == "severe pain in knees and hands"
    captions = [one.attributes["data-l"] for one in article.all() if "data-l" in one.attributes]
    assert captions == ["+ ADR missing fragment", "− ADR missing fragment"]


def test_sentences_can_be_found_by_error_label_and_kind() -> None:
    gold = annotated("ADR: pain … hands", "Site: left")
    page = parsed(page_of((gold, annotated("ADR: pain", "Drug: left"))))
    selects = {one.attributes["id"]: [option.text for option in one.all("option")] for one in page.all("select")}
    assert selects["label"] == ["any", "ADR", "Drug", "Site"]
    assert selects["kind"] == ["any", "regular", "overlapped", "discontinuous"]
    missing_fragment, wrong_type = (selects["error"].index(one) - 1 for one in ("missing fragment", "wrong type"))
    assert facts(page) == [[[missing_fragment, [0], [0, 2]]], [[wrong_type, [1, 2], [0]]]]


def test_cells_of_the_error_tables_lead_to_their_sentences() -> None:
    page = parsed(page_of((GOLD, PREDICTED)))
    by_kind, by_label = page.all("table", "heat")
    cells = [(one.attributes["data-error"], one.attributes["data-kind"]) for one in by_kind.all("button")]
    assert cells == [("2", "0"), ("2", "2")]
    assert [one.attributes["data-label"] for one in by_label.all("button")] == ["0"]


def test_labels_taken_for_each_other() -> None:
    page = parsed(page_of((annotated("ADR: pain"), annotated("Symptom: pain"))))
    assert [one.text for one in page.all("table", "names")[0].all("td")] == ["ADR", "Symptom", "1"]


def test_plots_are_there_when_there_is_something_to_plot() -> None:
    epochs = [Epoch(1, 9.5, 0.1, 0.0), Epoch(2, 4.0, 0.6, 0.2), Epoch(3, 3.0, 0.5, 0.3)]
    page = parsed(page_of((GOLD, PREDICTED), epochs=epochs))
    titles = [one.text for one in page.all("figcaption")]
    assert titles == [
        "Precision and recall by threshold",
        "Calibration",
        "F1 on dev while training",
        "Loss while training",
    ]
    notes = [one.text for one in page.all("title")]
    assert "all entities, score at least 0.900: precision 100.0, recall 50.0, F1 66.7" in notes
    assert "best: epoch 2, F1 60.0" in notes
    unscored = PREDICTED.replace(entities=(entity("ADR: pain"),))
    assert parsed(page_of((GOLD, unscored))).all("figure") == []


def test_the_best_threshold_gives_the_f1_that_is_told() -> None:
    gold = Document("d", "pain pain", (Entity("ADR", ((0, 4),)),))
    scored = (Entity("ADR", ((0, 4),), score=0.874), Entity("ADR", ((5, 9),), score=0.872))
    page = page_of((gold, gold.replace(entities=scored)))
    assert "F1 is highest, 100.0, with the predictions that score at least 0.874." in page


def test_nothing_wrong() -> None:
    page = parsed(page_of((GOLD, GOLD)))
    assert "Wrong sentences: 0" in page.text
    assert (articles(page), facts(page), page.all("table", "heat")) == ([], [], [])


def test_many_sentences_come_in_chunks() -> None:
    page = parsed(page_of(*[(GOLD, PREDICTED)] * (CHUNK + 1)))
    assert [len(json.loads(one.text)) for one in page.all("script", "chunk")] == [CHUNK, 1]
    assert len(facts(page)) == CHUNK + 1


@settings(max_examples=30)
@given(gold=documents())
def test_any_text_is_escaped_and_whole(gold: Document) -> None:
    page = parsed(page_of((gold, gold.replace(entities=()))))
    assert {one.tag for article in articles(page) for one in article.all()} <= {
        *("article", "h3", "div", "span", "br", "ul", "li", "b")
    }


def test_markup_in_text_labels_and_ids_stays_text() -> None:
    evil = "</script><script>alert('&amp;')</script>"
    gold = Document(f'"{evil}', evil, (Entity(f'"><{evil}', ((0, 8), (10, 12))),))
    markup = page_of((gold, gold.replace(entities=())))
    page = parsed(markup)
    assert len(page.all("script")) == 4  # facts, one chunk, and the two scripts
    (article,) = articles(page)
    assert "script" not in {one.tag for one in article.all()}
    assert article.all("div", "line")[0].text == evil
    assert not any(word in markup for word in ("http", "src=", "href", "@import", "url("))


LINES = TEXT.split("\n")


def text_of(sentence: WrongSentence) -> str:
    return sentence.document.text[sentence.start : sentence.end]


def drawn(sentence: WrongSentence) -> list[str]:
    return [f"{mark.standing}: {mark.caption} {mark.entity.text}" for mark in sentence.marks]


def test_only_sentences_with_an_error() -> None:
    gold = annotated("ADR: pain", "ADR: itching")
    (sentence,) = wrong_sentences(gold, annotated("ADR: pain", "ADR: mild itching"))
    assert (sentence.document.id, sentence.start, text_of(sentence)) == ("d", len(LINES[0]) + 1, LINES[1])
    assert [one.error.words for one in sentence.mistakes] == ["boundary"]
    assert list(wrong_sentences(gold, gold)) == []


def test_text_goes_on_where_an_error_does() -> None:
    (sentence,) = wrong_sentences(annotated("ADR: hands … itching"), annotated())
    assert text_of(sentence) == LINES[0] + "\nmild itching"


def test_an_error_before_any_sentence_is_shown_by_itself() -> None:
    gold = annotated("ADR: pain").replace(sentences=(Sentence(31, 35, ()),))
    assert [text_of(sentence) for sentence in wrong_sentences(gold, annotated())] == ["pain"]


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
        assert text_of(sentence) == LETTERS[sentence.start : sentence.end]
        missed = {mark.entity.key for mark in sentence.marks if mark.standing is Standing.MISSED}
        wrong = {mark.entity.key for mark in sentence.marks if mark.standing is Standing.WRONG}
        assert missed >= {entity.key for mistake in sentence.mistakes for entity in mistake.gold}
        assert wrong >= {entity.key for mistake in sentence.mistakes for entity in mistake.predicted}
