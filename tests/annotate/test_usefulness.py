from __future__ import annotations

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
