from __future__ import annotations

import random

import numpy as np
import pytest

from disconer.annotate import usefulness
from disconer.annotate.usefulness import most_useful_first, unsureness
from disconer.core.types import Entity

TEXTS = {
    "knees": "pain and stiffness in my knees",
    "knees again": "pain and stiffness in both knees",
    "sleep": "could not sleep at night and slept all day at work",
    "skin": "itching skin with a rash at night",
}


def found(*scores: float) -> list[Entity]:
    return [Entity("ADR", ((0, 4),), score=score) for score in scores]


def test_uncertainty_counts_doubtful_candidates() -> None:
    assert unsureness(found(0.5), 9) > unsureness(found(0.9), 9) > unsureness(found(1.0), 9) == 0
    assert unsureness(found(0.2, 0.2), 9) > unsureness(found(0.2), 9)


def test_the_doubtful_come_before_the_sure() -> None:
    candidates = {"knees": found(0.99), "knees again": found(0.98), "sleep": found(0.5, 0.4), "skin": found(1.0)}
    assert most_useful_first(TEXTS, candidates, done=())[0] == "sleep"


def test_what_is_like_the_annotated_comes_last() -> None:
    same = {id: found(0.5) for id in TEXTS}
    for candidates in (same, None):
        order = most_useful_first(TEXTS, candidates, done={"knees"})
        assert order[-1] == "knees again"
        assert sorted(order) == sorted(TEXTS.keys() - {"knees"})


def test_two_that_are_alike_are_not_chosen_one_after_the_other() -> None:
    order = most_useful_first(TEXTS, {id: found(0.5) for id in TEXTS}, done=())
    assert abs(order.index("knees") - order.index("knees again")) > 1


def test_beyond_the_first_documents_the_order_is_by_what_is_left_of_their_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = random.Random(3)
    words = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200)]
    texts = {f"d{n}": " ".join(chance.choices(words, k=30)) for n in range(60)}
    candidates = {id: found(chance.random()) for id in texts}
    whole = most_useful_first(texts, candidates, done={"d7"})
    monkeypatch.setattr(usefulness, "CHOSEN", 20)
    quick = most_useful_first(texts, candidates, done={"d7"})
    assert quick[:20] == whole[:20]
    assert quick != whole
    assert sorted(quick) == sorted(whole)


def test_vectors_of_many_texts_are_of_fewer_words(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["pain fever rash", "pain fever itch", "pain fever rash", "pain rash itch"]
    assert usefulness.word_vectors(texts).shape == (4, 4)
    monkeypatch.setattr(usefulness, "CELLS", 8)
    few = usefulness.word_vectors(texts)
    assert few.shape == (4, 2)
    assert np.all(np.linalg.norm(few, axis=1) < 1)
