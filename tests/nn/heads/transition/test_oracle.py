"""Actions and the oracle: what it finds is what its actions make, and what it loses no actions make."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import Ledger
from disconer.corpora import recipe_named
from disconer.evaluate.check import WordEntity
from disconer.nn.heads.transition.actions import (
    FIRST_COMPLETE,
    LEFT_REDUCE,
    OUT,
    RIGHT_REDUCE,
    State,
    entities_of,
    ranges_of,
    span_of,
)
from disconer.nn.heads.transition.oracle import ALTERNATING, NO_GAP, SAME_WORDS, SHARING, oracle, transition_reach
from disconer.text.alignment import align
from nn.heads.sentences import LABELS, N_WORDS, sentences

NUMBERS = {"X": 0, "Y": 1}


def made(actions: tuple[int, ...]) -> list[WordEntity]:
    return [(LABELS[label], ranges_of(span)) for label, span in entities_of(actions)]


@st.composite
def walks(draw: st.DrawFn) -> list[int]:
    """Any valid actions up to the end of a sentence."""
    state, actions = State(), []
    while any(valid := state.valid(N_WORDS)):
        reading, joining, completing = valid
        may = [*[0, 1] * reading, *[2, 3, 4] * joining, *[FIRST_COMPLETE, FIRST_COMPLETE + 1] * completing]
        actions.append(draw(st.sampled_from(may)))
        state = state.after(actions[-1])
    return actions


@given(walks())
def test_any_valid_actions_come_to_an_end_and_what_they_make_can_be_found(actions: list[int]) -> None:
    assert len(actions) <= 4 * N_WORDS
    assert all(second not in (2, 3, 4) for first, second in pairwise(actions) if first in (LEFT_REDUCE, RIGHT_REDUCE))
    entities = made(tuple(actions))
    if len(set(entities)) == len(entities):  # each once: a set of entities that can be expressed
        again = oracle(entities, N_WORDS, NUMBERS)
        assert again.lost == ()
        assert set(made(again.actions)) == set(entities)


@given(sentences())
def test_actions_make_exactly_what_is_not_lost(gold: list[WordEntity]) -> None:
    actions, lost = oracle(gold, N_WORDS, NUMBERS)
    state = State()
    for action in actions:
        group = 0 if action <= OUT else 1 if action < FIRST_COMPLETE else 2
        assert state.valid(N_WORDS)[group]
        state = state.after(action)
    assert state == State(N_WORDS)
    found = made(actions)
    assert len(found) == len(set(found))
    assert set(found) == set(gold) - set(lost)


@given(sentences())
def test_entities_that_share_nothing_and_have_no_gap_are_never_lost(gold: list[WordEntity]) -> None:
    spans = [span_of(ranges) for _, ranges in gold]
    alone = {
        key
        for number, key in enumerate(gold)
        if len(key[1]) == 1 and not any(spans[number] & other for other in spans[:number] + spans[number + 1 :])
    }
    assert alone.isdisjoint(oracle(gold, N_WORDS, NUMBERS).lost)


@pytest.mark.parametrize(
    ("text", "entities", "actions"),
    [
        ("he took aspirin", [((2, 3),)], "O O S C"),
        ("left atrium is dilated", [((0, 2), (3, 4))], "S S = O S = C"),
        ("pain and ache in knees", [((0, 1), (3, 5)), ((2, 5),)], "S O S S > S > C = = C"),
        ("pain of knees and hands", [((0, 3),), ((0, 2), (4, 5))], "S S = S < C O S = C"),
        ("human IL-2 gene", [((0, 3),), ((1, 2),)], "S S > S = C C"),
    ],
)
def test_actions_are_those_of_the_rules(text: str, entities: list[tuple[tuple[int, int], ...]], actions: str) -> None:
    """= is REDUCE, < LEFT-REDUCE, > RIGHT-REDUCE."""
    found = oracle([("X", ranges) for ranges in entities], len(text.split()), NUMBERS)
    assert " ".join("SO=<>C"[action] for action in found.actions) == actions


@pytest.mark.parametrize(
    ("entities", "lost"),
    [
        ([("X", ((0, 1), (2, 3))), ("X", ((1, 2), (3, 4)))], {("X", ((1, 2), (3, 4))): ALTERNATING}),
        ([("X", ((0, 2),)), ("Y", ((0, 2),))], {("Y", ((0, 2),)): SAME_WORDS}),
        ([("X", ((0, 1), (1, 2)))], {("X", ((0, 1), (1, 2))): NO_GAP}),
        ([("X", ((0, 2),)), ("Y", ((0, 1),)), ("Y", ((1, 2),))], {("Y", ((1, 2),)): SHARING}),
        ([("X", ((0, 3),)), ("Y", ((0, 2),)), ("X", ((1, 2),))], {}),
        ([("X", ((0, 1), (4, 5))), ("X", ((0, 1), (6, 7))), ("X", ((2, 3), (4, 5))), ("X", ((2, 3), (6, 7)))], None),
    ],
    ids=["alternating", "same words", "no gap", "a whole and both its halves", "nested", "two with two"],
)
def test_what_is_lost_has_a_reason(entities: list[WordEntity], lost: dict[WordEntity, str] | None) -> None:
    reach = transition_reach(entities, N_WORDS)
    assert reach.found == set(entities) - reach.lost.keys()
    if lost is None:
        assert list(reach.lost.values()) == [SHARING]
    else:
        assert reach.lost == lost


# Real corpora


@pytest.mark.parametrize(
    ("name", "archive", "options", "counts"),
    [
        ("chia", "chia_without_scope.zip", {"sentences": "lines"}, {SHARING: 18, SAME_WORDS: 14}),
        ("genia", "GENIAcorpus3.02.tgz", {"setting": "full", "types": "five"}, {SHARING: 15, SAME_WORDS: 4}),
    ],
)
def test_every_entity_comes_back_but_those_counted(
    data: Path, name: str, archive: str, options: dict[str, str], counts: dict[str, int]
) -> None:
    lost: Counter[str] = Counter()
    for document in recipe_named(name).build(data / name / archive, options, Ledger())["dev"]:
        for sentence, own in zip(document.sentences or (), align(document)[0], strict=True):
            gold = {entity.key for entity in own}
            reach = transition_reach(gold, len(sentence.tokens))
            assert reach.found == gold - reach.lost.keys()
            lost.update(reach.lost.values())
    assert lost == counts
