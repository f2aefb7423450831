from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from disconer import DisconerError, Document, Entity, read, write
from disconer.cli import app
from disconer.core.errors import DisconerWarning
from disconer.text.syntax import spec
from disconer.text.syntax.parser import Unparsed
from text.syntax.fakes import FakeParser, chain

PARSER = "spacy:some_pipeline"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["parse", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeParser:
    fake = FakeParser()
    monkeypatch.setattr(spec, "make_parser", lambda line, processes=None: fake)
    monkeypatch.setenv("DISCONER_PARSE_CACHE", str(tmp_path / "parses"))
    return fake


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    write([Document("a", "No fever. Pain in both knees.", (Entity("ADR", ((10, 14),), "T1"),))], path)
    return path


def heads(path: Path) -> list[tuple[int, ...] | None]:
    return [sentence.heads for document in read(path) for sentence in document.sentences or ()]


def test_heads_and_relations_are_written_and_all_else_is_kept(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    result = run(notes, tmp_path / "out.jsonl", "--parser", PARSER)
    assert result.exit_code == 0
    assert "2 of 2 sentences have heads." in result.stderr
    (found,) = read(tmp_path / "out.jsonl")
    assert found.replace(sentences=None) == next(iter(read(notes)))
    assert [sentence.relations for sentence in found.sentences or ()] == [
        ("dep", "dep", "root"),
        ("dep", "dep", "dep", "dep", "root"),
    ]


def test_a_second_run_parses_nothing_and_writes_the_same(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        run(notes, tmp_path / name, "--parser", PARSER)
    assert len(parser.asked) == 2
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    run(notes, tmp_path / "three.jsonl", "--parser", PARSER, "--no-cache")
    assert len(parser.asked) == 4


def test_heads_that_are_there_stay_unless_asked_otherwise(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    run(notes, tmp_path / "one.jsonl", "--parser", PARSER)
    parser.answer, parser.version = (lambda words: chain(words)), "2"
    run(tmp_path / "one.jsonl", tmp_path / "two.jsonl", "--parser", PARSER)
    assert len(parser.asked) == 2
    run(tmp_path / "one.jsonl", tmp_path / "three.jsonl", "--parser", PARSER, "--replace")
    assert len(parser.asked) == 4


def test_sentences_and_words_as_asked_for(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    run(notes, tmp_path / "out.jsonl", "--parser", PARSER, "--splitter", "lines", "--tokenizer", "whitespace")
    assert heads(tmp_path / "out.jsonl") == [(1, 2, 3, 4, 5, -1)]


def test_a_splitter_without_effect_is_said(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(notes, tmp_path / "a.jsonl", "--parser", PARSER, "--splitter", "lines")
        run(tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--parser", PARSER)
    with pytest.warns(DisconerWarning, match="splitter 'lines' is only used for documents without"):
        run(tmp_path / "a.jsonl", tmp_path / "c.jsonl", "--parser", PARSER, "--splitter", "lines")


def test_gaps_are_counted_or_an_error(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    parser.answer = lambda words: Unparsed("too hot") if "fever" in words.texts else chain(words)
    result = run(notes, tmp_path / "out.jsonl", "--parser", PARSER)
    assert "1 of 2 sentences have heads." in result.stderr
    assert "lost: 1 sentence without heads: too hot" in result.stderr
    with pytest.raises(DisconerError, match=r"document 'a', offset 0.*too hot"):
        run(notes, tmp_path / "strict.jsonl", "--parser", PARSER, "--missing", "error")
    assert not (tmp_path / "strict.jsonl").exists()


def test_not_one_tree_is_an_error_that_leaves_nothing(notes: Path, parser: FakeParser, tmp_path: Path) -> None:
    parser.answer = lambda words: Unparsed("too hot")
    with pytest.raises(DisconerError, match=r"gave no tree for any of 2 sentences. Got too hot. Fix that.*--parser"):
        run(notes, tmp_path / "out.jsonl", "--parser", PARSER)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(("name", "to"), [("out", "brat"), ("out.bio", "bio"), ("out.json", "w2ner")])
def test_formats_that_cannot_hold_heads_count_them(
    notes: Path, parser: FakeParser, tmp_path: Path, name: str, to: str
) -> None:
    result = run(notes, tmp_path / name, "--parser", PARSER, "--to", to)
    assert "2 dependency trees" in result.stderr


def test_what_is_no_parser(notes: Path, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="'data' parses nothing"):
        run(notes, tmp_path / "out.jsonl", "--parser", "data")
    with pytest.raises(DisconerError, match="there is no parser 'spacey:en'"):
        run(notes, tmp_path / "out.jsonl", "--parser", "spacey:en")


def test_what_exists_is_not_overwritten(notes: Path, parser: FakeParser) -> None:
    with pytest.raises(DisconerError, match="already exists"):
        run(notes, notes, "--parser", PARSER)
    assert parser.asked == []
