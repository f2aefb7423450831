from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.text import segment
from disconer.text.syntax.parser import CIRCLE, OUT_OF_RANGE, OWN_HEAD, WRONG_COUNT, Tree, Words, depths_of, problem_in
from strategies import documents
from text.syntax.fakes import words_of


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        ((1, -1, 1), None),
        ((), None),
        ((-1, -1, 1), None),  # several roots are a forest
        ((1, -1), WRONG_COUNT),
        ((1, -1, 3), OUT_OF_RANGE),
        ((1, -2, 1), OUT_OF_RANGE),
        ((0, -1, 1), OWN_HEAD),
        ((1, 2, 0), CIRCLE),
        ((-1, 2, 1), CIRCLE),
    ],
)
def test_problems(heads: tuple[int, ...], problem: str | None) -> None:
    assert problem_in(heads, 3 if heads else 0) == problem


def test_roots_are_counted() -> None:
    assert Tree((-1, 0, -1), ("root", "dep", "root")).n_roots == 2


@given(st.lists(st.integers(-1, 8), max_size=9).filter(lambda heads: all(head < len(heads) for head in heads)))
def test_depths_are_known_exactly_where_every_word_comes_to_a_root(heads: list[int]) -> None:
    def steps(word: int) -> int | None:
        for step in range(len(heads) + 1):
            if word == -1:
                return step - 1
            word = heads[word]
        return None

    expected = [steps(word) for word in range(len(heads))]
    assert depths_of(heads) == (None if None in expected else expected)


def test_a_long_chain_is_no_trouble() -> None:
    n = 20_000
    assert depths_of([*range(1, n), -1]) == list(range(n - 1, -1, -1))


# Words


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
