"""Recognisers whose model uses dependency heads: they parse by themselves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from disconer import DisconerError, Document
from disconer.core.errors import BadInput, DisconerWarning
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, save_model
from disconer.text import segment
from disconer.text.syntax import spec
from disconer.text.syntax.parser import Parse, Unparsed, Words
from nn.toy import lively, toy_model
from text.syntax.fakes import FakeParser, chain

TEXT = "Pain and stiffness in my knees. No fever."


def model(**syntax: Any) -> Model:
    return lively(toy_model(syntax={"parser": "spacy:some_pipeline", "gcn": {"dropout": 0.0}} | syntax), against=-2.0)


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> FakeParser:
    """What every line that names a parser leads to."""
    fake = FakeParser()
    monkeypatch.setattr(spec, "make_parser", lambda line, processes=None: None if line == "data" else fake)
    return fake


def heads(document: Document) -> list[tuple[int, ...] | None]:
    return [sentence.heads for sentence in document.sentences or ()]


def test_raw_text_is_parsed(parser: FakeParser) -> None:
    ner = Recognizer(model())
    found = ner(TEXT)
    assert [words.texts[-2:] for words in parser.asked] == [("knees", "."), ("fever", ".")]
    assert heads(found) == [chain(words).heads for words in parser.asked]
    assert ner.parsing.given == 2


def test_documents_of_a_batch_are_parsed_together_and_the_network_sees_their_heads(parser: FakeParser) -> None:
    ner, bare = Recognizer(model()), Recognizer(model(), parser="none")
    texts = [TEXT, "stiffness of hands", TEXT]
    scores = [[entity.score for entity in document.entities] for document in ner.pipe(texts)]
    without = [[entity.score for entity in document.entities] for document in bare.pipe(texts)]
    assert len(parser.asked) == 3  # each sentence once
    assert scores[0] == scores[2]
    assert scores[0] != without[0]


def test_heads_that_a_document_has_are_kept(parser: FakeParser) -> None:
    document = segment(Document("d", "no fever"))
    (sentence,) = document.sentences or ()
    parsed = document.replace(sentences=(replace(sentence, heads=(-1, 0)),))
    (found,) = Recognizer(model()).annotate([parsed])
    assert heads(found) == [(-1, 0)]
    assert parser.asked == []


def test_a_model_that_looks_at_no_heads_parses_nothing(parser: FakeParser) -> None:
    assert heads(Recognizer(model(gcn=None))(TEXT)) == [None, None]
    assert parser.asked == []


def without_fever(words: Words) -> Parse | Unparsed:
    return Unparsed("too hot") if "fever" in words.texts else chain(words)


def test_a_sentence_without_heads_is_counted_and_said_once(parser: FakeParser) -> None:
    parser.answer = without_fever
    ner = Recognizer(model())
    with pytest.warns(DisconerWarning, match="no dependency heads, which this model uses: too hot"):
        assert heads(ner(TEXT))[1] is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ner(TEXT)
    assert ner.parsing.without == {"too hot": 2}


def test_or_it_is_an_error_if_the_configuration_says_so(parser: FakeParser) -> None:
    parser.answer = without_fever
    with pytest.raises(BadInput, match="too hot"):
        Recognizer(model(missing="error"))(TEXT)


def test_a_parser_that_is_gone_is_an_error(parser: FakeParser) -> None:
    parser.answer = lambda words: Unparsed("no server answers", lasting=False)
    with pytest.raises(DisconerError, match="no server answers"):
        Recognizer(model())(TEXT)


def test_raw_text_for_a_model_whose_heads_came_with_the_data(parser: FakeParser) -> None:
    with pytest.warns(DisconerWarning, match="the data has none.*another parser may help"):
        Recognizer(model(parser="data"))(TEXT)
    found = Recognizer(model(parser="data"), parser="spacy:some_pipeline")(TEXT)
    assert None not in heads(found)


def test_trees_are_kept_on_disk_only_if_asked_for(
    parser: FakeParser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISCONER_PARSE_CACHE", str(tmp_path))
    for keep, asked in ((False, 2), (False, 4), (True, 6), (True, 6)):
        Recognizer(model(), keep_parses=keep)(TEXT)
        assert len(parser.asked) == asked


def test_a_saved_model_remembers_its_parser_and_says_what_to_install(tmp_path: Path) -> None:
    save_model(model(parser="spacy:en_core_web_huge"), tmp_path)
    with pytest.raises(DisconerError, match=r"no spaCy pipeline 'en_core_web_huge'.*spacy download en_core_web_huge"):
        Recognizer.from_pretrained(tmp_path)
    assert Recognizer.from_pretrained(tmp_path, parser="none")(TEXT).text == TEXT
