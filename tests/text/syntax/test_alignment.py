from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from disconer.text.syntax.attach import NO_RELATIONS, OTHER_TEXT, on_words
from disconer.text.syntax.parser import CIRCLE, Parse, Tree, Unparsed, problem_in
from text.syntax.fakes import chain, plain_words


def test_the_same_words_keep_their_heads() -> None:
    words = plain_words("No", "fever")
    parse = Parse(("No", "fever"), (1, -1), ("det", "root"))
    assert on_words(words, parse) == Tree((1, -1), ("det", "root"), realigned=False)


def test_a_parsers_long_word_hangs_its_parts_on_the_last() -> None:
    words = plain_words("IL", "-", "2", "rises")
    parse = Parse(("IL-2", "rises"), (1, -1), ("nsubj", "root"))
    assert on_words(words, parse) == Tree((2, 2, 3, -1), ("dep", "dep", "nsubj", "root"), realigned=True)


def test_a_parsers_short_words_are_one_by_the_topmost() -> None:
    words = plain_words("He", "can't", "sleep")
    parse = Parse(("He", "ca", "n't", "sleep"), (3, 2, 3, -1), ("nsubj", "aux", "advmod", "root"))
    assert on_words(words, parse) == Tree((2, 2, -1), ("nsubj", "advmod", "root"), realigned=True)


def test_borders_that_cross_are_one_block() -> None:
    words = plain_words("ab", "c", "d")
    parse = Parse(("a", "bc", "d"), (1, 2, -1), ("x", "y", "root"))
    assert on_words(words, parse) == Tree((1, 2, -1), ("dep", "y", "root"), realigned=True)


def test_whitespace_in_a_parsers_word_does_not_matter() -> None:
    parse = Parse(("10 000", "cells"), (1, -1), ("nummod", "root"))
    assert on_words(plain_words("10", "000", "cells"), parse) == Tree(
        (1, 2, -1), ("dep", "nummod", "root"), realigned=True
    )


def test_what_is_not_taken() -> None:
    words = plain_words("a", "b")
    assert on_words(words, Parse(("a", "b"), (1, 0), ("x", "y"))) == Unparsed(CIRCLE)
    assert on_words(words, Parse(("a",), (-1,), ("x",))) == Unparsed(OTHER_TEXT)
    assert on_words(words, Parse(("a", "c"), (-1, 0), ("x", "y"))) == Unparsed(OTHER_TEXT)
    assert on_words(words, Parse(("a", "", "b"), (-1, 0, 0), ("x", "y", "z"))) == Unparsed(OTHER_TEXT)
    assert on_words(words, Parse(("a", "b"), (-1, 0), ("x",))) == Unparsed(NO_RELATIONS)


@st.composite
def two_cuts_and_a_tree(draw: st.DrawFn) -> tuple[list[str], list[str], list[int]]:
    """A text cut into words in two ways, and heads over the second."""
    text = draw(st.text("abc", min_size=1, max_size=12))

    def cut() -> list[str]:
        inner = st.sets(st.integers(1, len(text) - 1)) if len(text) > 1 else st.just(set())
        borders = [0, *sorted(draw(inner)), len(text)]
        return [text[start:end] for start, end in pairwise(borders)]

    ours, theirs = cut(), cut()
    order = draw(st.permutations(range(len(theirs))))
    heads = [-1] * len(theirs)
    for place, word in enumerate(order):
        heads[word] = draw(st.sampled_from([-1, *order[:place]])) if place else -1
    return ours, theirs, heads


@given(two_cuts_and_a_tree())
def test_a_tree_stays_a_tree_with_no_more_roots(case: tuple[list[str], list[str], list[int]]) -> None:
    ours, theirs, heads = case
    tree = on_words(plain_words(*ours), Parse(tuple(theirs), tuple(heads), tuple(map(str, heads))))
    assert isinstance(tree, Tree)
    assert problem_in(tree.heads, len(ours)) is None
    assert 1 <= tree.n_roots <= heads.count(-1)
    assert tree.realigned == (ours != theirs)


def test_a_thousand_words_are_no_trouble() -> None:
    words = plain_words(*(f"w{number}" for number in range(1000)))
    assert isinstance(on_words(words, chain(words)), Tree)
