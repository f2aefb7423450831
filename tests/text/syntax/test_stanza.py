"""The Stanza adapter, against a stand-in with the part of Stanza's interface that it uses."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from disconer.core.errors import DisconerError
from disconer.text.syntax.parser import Parse, Unparsed
from disconer.text.syntax.stanza import StanzaParser
from text.syntax.fakes import plain_words

FEVER, PAIN = plain_words("No", "fever"), plain_words("No", "pain")


def sentence(words: list[str]) -> SimpleNamespace:
    """Every word hangs on the next, as Stanza says it: words are counted from 1, 0 is the root."""
    n = len(words)
    return SimpleNamespace(
        words=[
            SimpleNamespace(id=number, text=text, head=number + 1 if number < n else 0, deprel="dep")
            for number, text in enumerate(words, 1)
        ]
    )


def parse_all(sentences: list[list[str]]) -> SimpleNamespace:
    return SimpleNamespace(sentences=[sentence(words) for words in sentences])


@pytest.fixture
def stanza(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A stand-in module; `settings` remembers what its Pipeline was made with, `run` is what that does."""
    module: Any = ModuleType("stanza")
    module.__spec__ = importlib.util.spec_from_loader("stanza", None)
    module.settings, module.run = {}, parse_all

    def pipeline(**settings: Any) -> Callable[[list[list[str]]], SimpleNamespace]:
        module.settings.update(settings)
        return lambda sentences: module.run(sentences)

    module.Pipeline = pipeline
    monkeypatch.setitem(sys.modules, "stanza", module)
    return module


def test_our_words_go_in_and_heads_from_0_come_out(stanza: Any) -> None:
    answers = list(StanzaParser("en").parse([FEVER, plain_words("Pain")]))
    assert answers == [Parse(("No", "fever"), (1, -1), ("dep", "dep")), Parse(("Pain",), (-1,), ("dep",))]
    assert stanza.settings["tokenize_pretokenized"] is True
    assert stanza.settings["download_method"] is None
    assert (stanza.settings["lang"], stanza.settings["package"]) == ("en", "default")


def test_a_package_after_the_language(stanza: Any) -> None:
    list(StanzaParser("en/craft").parse([FEVER]))
    assert (stanza.settings["lang"], stanza.settings["package"]) == ("en", "craft")
    assert StanzaParser("en/craft").identity() != StanzaParser("en").identity()


def test_a_sentence_that_breaks_it_does_not_take_the_others_along(stanza: Any) -> None:
    def run(sentences: list[list[str]]) -> SimpleNamespace:
        if any("fever" in words for words in sentences):
            raise RuntimeError("out of memory")
        return parse_all(sentences)

    stanza.run = run
    broken, sound = StanzaParser("en").parse([FEVER, PAIN])
    assert broken == Unparsed("Stanza failed: RuntimeError", lasting=False)
    assert isinstance(sound, Parse)


def test_another_number_of_sentences_is_no_answer(stanza: Any) -> None:
    stanza.run = lambda sentences: parse_all([])
    assert [type(answer) for answer in StanzaParser("en").parse([FEVER, PAIN])] == [Unparsed, Unparsed]


def test_models_that_are_not_here(stanza: Any) -> None:
    def missing(**settings: Any) -> None:
        raise FileNotFoundError("resources.json")

    stanza.Pipeline = missing
    with pytest.raises(DisconerError, match=r"stanza.download\('en', package='craft'\).*STANZA_RESOURCES_DIR"):
        list(StanzaParser("en/craft").parse([FEVER]))


def test_stanza_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DisconerError, match="pip install stanza"):
        StanzaParser("en")


def test_it_travels_unloaded(stanza: Any) -> None:
    parser = StanzaParser("en/craft")
    list(parser.parse([FEVER]))
    assert pickle.loads(pickle.dumps(parser)).name == "stanza:en/craft"
