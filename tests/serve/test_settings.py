from __future__ import annotations

import pytest

from disconer import DisconerError
from disconer.serve.settings import Replicas


@pytest.mark.parametrize(
    ("text", "bounds", "words"),
    [
        ("1", Replicas(1, 1), "1 replica"),
        (" 3 ", Replicas(3, 3), "3 replicas"),
        ("2-2", Replicas(2, 2), "2 replicas"),
        ("1-4", Replicas(1, 4), "1 to 4 replicas"),
    ],
)
def test_replicas_are_a_number_or_two_bounds(text: str, bounds: Replicas, words: str) -> None:
    assert Replicas.parse(text) == bounds
    assert str(bounds) == words


@pytest.mark.parametrize("text", ["0", "0-3", "4-2", "-1", "many", "1-", "1.5", ""])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(DisconerError, match=r"--replicas .* expected a number, such as 3, or 1-4"):
        Replicas.parse(text)
