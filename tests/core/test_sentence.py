from __future__ import annotations

from collections.abc import Callable

import pytest

from disconer import Sentence, Token


def test_sequences_become_tuples() -> None:
    sentence = Sentence(0, 3, [[0, 1], [2, 3]], heads=[1, -1], relations=["nsubj", "root"])
    assert sentence.tokens == (Token(0, 1), Token(2, 3))
    assert sentence.heads == (1, -1)
    assert sentence.relations == ("nsubj", "root")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sentence(0, 3, ((0, 0),)), "is empty"),
        (lambda: Sentence(0, 3, ((2, 4),)), "outside its sentence"),
        (lambda: Sentence(1, 3, ((0, 2),)), "outside its sentence"),
        (lambda: Sentence(0, 3, ((1, 3), (0, 1))), "out of order"),
        (lambda: Sentence(0, 3, ((0, 1),), heads=()), "0 heads for 1 tokens"),
        (lambda: Sentence(0, 3, ((0, 1),), heads=(0,)), "another token"),
        (lambda: Sentence(0, 3, ((0, 1),), heads=(1,)), "another token"),
        (lambda: Sentence(0, 3, ((0, 1),), heads=(-2,)), "another token"),
        (lambda: Sentence(0, 3, ((0, 1),), heads=(-1.0,)), "another token"),
        (lambda: Sentence(0, 3, ((0, 1),), relations=("a", "b")), "2 relations for 1 tokens"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], Sentence], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
