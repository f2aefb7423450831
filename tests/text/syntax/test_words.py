from __future__ import annotations

from hypothesis import given

from disconer.core.types import Document, Sentence
from disconer.text import segment
from disconer.text.syntax.parser import Words
from strategies import documents
from text.syntax.fakes import words_of


def test_words_and_what_parts_them() -> None:
    assert words_of("No fever,  chills.") == Words(
        ("No", "fever", ",", "chills", "."), (True, False, True, False, False)
    )


def test_the_same_words_are_the_same_whatever_the_whitespace() -> None:
    assert words_of("No\tfever") == words_of("No   fever")
    assert words_of("No fever") != words_of("Nofever")


def test_characters_that_no_parser_takes() -> None:
    text = "a\u00a0b \ud800 \u2028"
    words = Words.of(text, Sentence(0, len(text), ((0, 3), (4, 5), (6, 7))))
    assert words.texts == ("ab", "\ufffd", "_")
    "".join(words.texts).encode()


@given(documents())
def test_words_are_what_shows_of_the_text(document: Document) -> None:
    for sentence in segment(document).sentences or ():
        words = Words.of(document.text, sentence)
        assert len(words) == len(words.spaces) == len(sentence.tokens)
        assert "".join(words.texts) == "".join(document.text[sentence.start : sentence.end].split())
