from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from disconer.core.errors import BadInput, DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.text.syntax.attach import NOT_IN_DATA, Account, Syntax
from disconer.text.syntax.cache import ParseCache
from disconer.text.syntax.parser import CIRCLE, Identity, Parse, Unparsed, Words
from text.syntax.fakes import FakeParser, chain, document


def heads(found: Document) -> list[tuple[int, ...] | None]:
    return [sentence.heads for sentence in found.sentences or ()]


def with_heads(found: Document, *all_heads: tuple[int, ...] | None) -> Document:
    sentences = [replace(one, heads=own) for one, own in zip(found.sentences or (), all_heads, strict=True)]
    return found.replace(sentences=tuple(sentences))


def except_for(bad: str, answer: Parse | Unparsed) -> FakeParser:
    """A parser that handles all sentences but those with a certain word."""
    return FakeParser(lambda words: answer if bad in words.texts else chain(words))


def test_sentences_get_heads_and_relations_and_nothing_else_changes() -> None:
    given, account = document("no fever", "pain"), Account()
    (found,) = Syntax(FakeParser())([given], account)
    assert heads(found) == [(1, -1), (-1,)]
    assert [sentence.relations for sentence in found.sentences or ()] == [("dep", "root"), ("root",)]
    assert (found.text, found.id) == (given.text, given.id)
    assert (account.given, account.asked, account.sentences) == (2, 2, 2)


def test_heads_that_are_there_stay() -> None:
    parser, account = FakeParser(), Account()
    (found,) = Syntax(parser)([with_heads(document("no fever", "no pain"), (-1, 0), None)], account)
    assert heads(found) == [(-1, 0), (1, -1)]
    assert [words.texts for words in parser.asked] == [("no", "pain")]
    assert (account.kept, account.given) == (1, 1)


def test_a_sentence_that_occurs_again_is_parsed_once() -> None:
    parser, account = FakeParser(), Account()
    found = Syntax(parser)([document("no fever", "no fever"), document("no fever", id="e")], account)
    assert [heads(one) for one in found] == [[(1, -1), (1, -1)], [(1, -1)]]
    assert (len(parser.asked), account.given) == (1, 3)


def test_a_second_run_parses_nothing(tmp_path: Path) -> None:
    first, second = (except_for("fever", Unparsed("too hot")) for _ in range(2))
    accounts = Account(), Account()
    found = [
        Syntax(parser, cache=ParseCache(tmp_path, parser.identity()))([document("no fever", "no pain")], account)
        for parser, account in zip((first, second), accounts, strict=True)
    ]
    assert (len(first.asked), len(second.asked)) == (2, 0)
    assert found[0] == found[1]
    assert accounts[0].without == accounts[1].without == {"too hot": 1}


def test_another_parser_parses_again(tmp_path: Path) -> None:
    for version in ("1", "2"):
        parser = FakeParser(version=version)
        Syntax(parser, cache=ParseCache(tmp_path, parser.identity()))([document("no fever")], Account())
        assert len(parser.asked) == 1


def test_a_parser_that_breaks_off_leaves_what_it_did(tmp_path: Path) -> None:
    def answer(words: Words) -> Parse:
        if "pain" in words.texts:
            raise KeyboardInterrupt
        return chain(words)

    cache = ParseCache(tmp_path, Identity("fake", "parser", "1"))
    with pytest.raises(KeyboardInterrupt):
        Syntax(FakeParser(answer), cache=cache)([document("no fever", "no pain")], Account())
    parser = FakeParser()
    Syntax(parser, cache=cache)([document("no fever", "no pain")], Account())
    assert [words.texts for words in parser.asked] == [("no", "pain")]


def test_what_a_parser_could_not_do_for_now_is_asked_again(tmp_path: Path) -> None:
    cache = ParseCache(tmp_path, Identity("fake", "parser", "1"))
    slow = except_for("fever", Unparsed("too slow", lasting=False))
    Syntax(slow, cache=cache)([document("no fever", "no pain")], Account())
    parser = FakeParser()
    (found,) = Syntax(parser, cache=cache)([document("no fever", "no pain")], Account())
    assert len(parser.asked) == 1
    assert None not in heads(found)


BAD = {
    "a circle": (Parse(("no", "fever"), (1, 0), ("x", "x")), "cyclic"),
    "a head out of range": (Parse(("no", "fever"), (2, -1), ("x", "x")), "not a word of the sentence"),
    "its own head": (Parse(("no", "fever"), (0, -1), ("x", "x")), "its own head"),
    "too few heads": (Parse(("no", "fever"), (-1,), ("x", "x")), "numbers of heads and words differ"),
    "another token count": (Parse(("no",), (-1,), ("x",)), "differ from the text"),
    "none": (Unparsed("too hot"), "too hot"),
}


@pytest.mark.parametrize(("answer", "reason"), BAD.values(), ids=BAD)
def test_a_bad_tree_is_counted_and_the_sentence_goes_on_without(answer: Parse | Unparsed, reason: str) -> None:
    account = Account()
    (found,) = Syntax(except_for("fever", answer))([document("no fever", "no pain")], account)
    assert heads(found) == [None, (1, -1)]
    ledger = Ledger()
    account.enter(ledger)
    ((said, times),) = ledger.losses.items()
    assert said.startswith("sentences without heads: ")
    assert reason in said
    assert times == 1


@pytest.mark.parametrize(("answer", "reason"), BAD.values(), ids=BAD)
def test_or_it_is_an_error_that_names_its_place(answer: Parse | Unparsed, reason: str) -> None:
    syntax = Syntax(except_for("fever", answer), missing="error")
    with pytest.raises(BadInput, match=reason) as caught:
        syntax([document("no pain", "no fever", id="note-7")], Account())
    assert "document 'note-7', offset 8" in str(caught.value)
    assert "'no fever'" in str(caught.value)
    assert "syntax.missing" in str(caught.value)


def test_several_roots_are_kept_and_counted() -> None:
    account = Account()
    forest = Parse(("no", "fever"), (-1, -1), ("root", "root"))
    (found,) = Syntax(except_for("fever", forest))([document("no fever", "no pain")], account)
    assert heads(found) == [(-1, -1), (1, -1)]
    assert account.forests == 1
    assert any("1 sentences with several roots" in line for line in account.lines())


def test_heads_of_the_data_that_run_in_a_circle_are_left_aside_and_parsed_again() -> None:
    account = Account()
    (found,) = Syntax(FakeParser())([with_heads(document("no fever"), (1, 0))], account)
    assert heads(found) == [(1, -1)]
    assert account.dropped == {CIRCLE: 1}


def test_without_a_parser_heads_come_with_the_data_or_not() -> None:
    account = Account()
    (found,) = Syntax(None)([with_heads(document("no fever", "pain"), (1, -1), None)], account)
    assert heads(found) == [(1, -1), None]
    assert account.without == {NOT_IN_DATA: 1}
    with pytest.raises(BadInput, match=NOT_IN_DATA):
        Syntax(None, missing="error")([document("no fever")], Account())


def test_a_parser_that_gives_nothing_at_all_is_an_error_even_if_gaps_may_be() -> None:
    gone = FakeParser(lambda words: Unparsed("no server answers", lasting=False))
    with pytest.raises(DisconerError, match=r"fake:parser gave no tree for any of 2 sentences. Got no server answers"):
        Syntax(gone)([document("no fever", "no pain")], Account())


def test_documents_without_words() -> None:
    account = Account()
    assert Syntax(FakeParser())([document(""), Document("e", "", sentences=())], account) != []
    assert account.sentences == 0
    assert list(account.lines()) == []
