"""Runs whose model uses dependency heads: they parse by themselves, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from disconer import DisconerError, read, write
from disconer.config import Config, config_from_dict
from disconer.core.errors import BadInput
from disconer.predict.recognizer import Recognizer
from disconer.text import segment
from disconer.text.syntax import spec
from disconer.text.syntax.parser import Parse, Unparsed, Words
from disconer.training import train
from disconer.training.data import drawn, read_data, with_heads
from disconer.training.display import Display
from text.syntax.fakes import FakeParser, chain
from training.synthetic import complaints, prepare

QUIET = Display(quiet=True)


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeParser:
    fake = FakeParser()
    monkeypatch.setattr(spec, "make_parser", lambda line, processes=None: None if line == "data" else fake)
    monkeypatch.setenv("DISCONER_PARSE_CACHE", str(tmp_path / "parses"))
    return fake


def config_with(folder: Path, **syntax: Any) -> Config:
    documents = complaints(12)
    values = prepare(folder, documents, documents[:4], epochs=1).to_dict()
    return config_from_dict(values | {"syntax": {"parser": "spacy:some_pipeline", "gcn": {"size": 4}} | syntax})


def sentences_with_heads(config: Config) -> list[bool]:
    data = with_heads(read_data(config.data), config.syntax, QUIET)
    documents = [*data.train, *data.dev]
    return [sentence.heads is not None for document in documents for sentence in document.sentences or ()]


def test_all_splits_get_heads_and_a_second_run_parses_nothing(tmp_path: Path, parser: FakeParser) -> None:
    config = config_with(tmp_path)
    assert set(sentences_with_heads(config)) == {True}
    n_asked = len(parser.asked)
    assert n_asked == len(set(parser.asked)) > 0
    assert set(sentences_with_heads(config)) == {True}
    assert len(parser.asked) == n_asked


@pytest.mark.slow
def test_a_run_and_its_model(tmp_path: Path, parser: FakeParser) -> None:
    train(config_with(tmp_path), tmp_path / "run", display=QUIET)
    n_asked = len(parser.asked)
    assert n_asked == len(set(parser.asked))  # the sentences of dev are not parsed again to be measured
    ner = Recognizer.from_pretrained(tmp_path / "run")
    ner("pain in my knees")
    assert parser.asked[n_asked:] == [Words(("pain", "in", "my", "knees"), (True, True, True, False))]


def test_without_a_convolution_nothing_is_parsed(tmp_path: Path, parser: FakeParser) -> None:
    assert set(sentences_with_heads(config_with(tmp_path, gcn=None))) == {False}
    assert parser.asked == []


def half(words: Words) -> Parse | Unparsed:
    return Unparsed("too long") if len(words) > 4 else chain(words)


def test_sentences_without_heads_are_told(
    tmp_path: Path, parser: FakeParser, capsys: pytest.CaptureFixture[str]
) -> None:
    parser.answer = half
    config = config_with(tmp_path)
    with_heads(read_data(config.data), config.syntax, Display())
    assert "sentences without heads: too long" in capsys.readouterr().err


def test_or_they_are_an_error(tmp_path: Path, parser: FakeParser) -> None:
    parser.answer = half
    with pytest.raises(BadInput, match=r"document 'complaint-\d+'.*too long"):
        sentences_with_heads(config_with(tmp_path, missing="error"))


def test_no_heads_at_all_is_an_error_whatever_the_reason(tmp_path: Path, parser: FakeParser) -> None:
    parser.answer = lambda words: Unparsed("too short")
    with pytest.raises(DisconerError, match=r"no training sentence has dependency heads.*12 sentences: too short"):
        sentences_with_heads(config_with(tmp_path))
    with pytest.raises(DisconerError, match="the data has none"):
        sentences_with_heads(config_with(tmp_path, parser="data"))


def test_heads_of_the_data(tmp_path: Path) -> None:
    config = config_with(tmp_path, parser="data")
    path = Path(config.data.train)
    segmented = [segment(document) for document in read(path)]
    first, *rest = segmented
    (sentence,) = first.sentences or ()
    parsed = type(sentence)(sentence.start, sentence.end, sentence.tokens, (-1, *[0] * (len(sentence.tokens) - 1)))
    write([first.replace(sentences=(parsed,)), *rest], path, force=True)
    assert sentences_with_heads(config).count(True) == 1


def test_a_share_of_the_documents_is_drawn_by_the_seed_and_part_of_a_larger_one() -> None:
    documents = complaints(50)
    tenth, half = drawn(documents, 0.1, 1), drawn(documents, 0.5, 1)
    assert (len(tenth), len(half)) == (5, 25)
    assert all(document in half for document in tenth)
    assert drawn(documents, 0.1, 2) != tenth
    assert drawn(documents, 1.0, 1) == documents
    assert len(drawn(documents, 0.001, 1)) == 1
