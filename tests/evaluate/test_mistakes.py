from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated import LETTERS, annotated, small_entities, small_pairs
from disconer.core.types import Document, Entity
from disconer.evaluate import ErrorClass, evaluate, mistakes
from disconer.evaluate.mistakes import Nearby

# name: gold, predicted, and the errors as (class, gold entities, predictions)
EXAMPLES = {
    "all right": (["ADR: pain … hands"], ["ADR: pain … hands"], []),
    "wrong type": (["ADR: pain … hands"], ["Drug: pain … hands"], [("wrong_type", 1, 1)]),
    "two types, one wrong": (["ADR: pain", "Sign: pain"], ["Drug: pain", "Sign: pain"], [("wrong_type", 1, 1)]),
    "type before boundary": (
        ["ADR: pain"],
        ["ADR: severe pain", "Drug: pain"],
        [("wrong_type", 1, 1), ("spurious", 0, 1)],
    ),
    "boundary": (["ADR: severe pain"], ["ADR: pain"], [("boundary", 1, 1)]),
    "boundary of a fragment": (["ADR: severe pain … hands"], ["ADR: pain … hands"], [("boundary", 1, 1)]),
    "gap filled": (["ADR: pain … hands"], ["ADR: pain in knees and hands"], [("boundary", 1, 1)]),
    "one fragment for another": (["ADR: pain … hands"], ["ADR: pain … knees"], [("boundary", 1, 1)]),
    "missing fragment": (["ADR: pain … hands"], ["ADR: pain"], [("missing_fragment", 1, 1)]),
    "missing fragment, other end wrong": (["ADR: pain … hands"], ["ADR: severe pain"], [("missing_fragment", 1, 1)]),
    "extra fragment": (["ADR: pain"], ["ADR: pain … hands"], [("extra_fragment", 1, 1)]),
    "merged": (["ADR: knees", "ADR: hands"], ["ADR: knees and hands"], [("merged", 2, 1)]),
    "merged, sharing a fragment": (
        ["ADR: pain … knees", "ADR: pain … hands"],
        ["ADR: pain … knees … hands"],
        [("merged", 2, 1)],
    ),
    "merged over the gap": (["ADR: left … arm", "ADR: right arm"], ["ADR: left and right arm"], [("merged", 2, 1)]),
    "three merged": (["ADR: left", "ADR: right", "ADR: arm"], ["ADR: left and right arm"], [("merged", 3, 1)]),
    "other labels do not merge": (
        ["ADR: left", "Drug: arm"],
        ["ADR: left and right arm"],
        [("boundary", 1, 1), ("missed", 1, 0)],
    ),
    "too wide for nested ones": (
        ["ADR: right arm", "ADR: arm"],
        ["ADR: and right arm"],
        [("boundary", 1, 1), ("missed", 1, 0)],
    ),
    "one of the covered ones was found": (
        ["ADR: knees", "ADR: hands"],
        ["ADR: knees and hands", "ADR: knees"],
        [("boundary", 1, 1)],
    ),
    "merged only once": (
        ["ADR: knees", "ADR: hands"],
        ["ADR: knees and hands", "ADR: in knees and hands"],
        [("merged", 2, 1), ("spurious", 0, 1)],
    ),
    "merged before split": (
        ["ADR: pain in knees and hands", "ADR: knees", "ADR: hands"],
        ["ADR: pain", "ADR: knees and hands"],
        [("merged", 2, 1), ("boundary", 1, 1)],
    ),
    "split": (["ADR: pain … hands"], ["ADR: pain", "ADR: hands"], [("split", 1, 2)]),
    "closest first": (
        ["ADR: severe pain"],
        ["ADR: severe", "ADR: severe pain in"],
        [("boundary", 1, 1), ("spurious", 0, 1)],
    ),
    "spurious": ([], ["ADR: pain"], [("spurious", 0, 1)]),
    "missed": (["ADR: pain"], [], [("missed", 1, 0)]),
    "elsewhere": (["ADR: pain"], ["ADR: itching"], [("missed", 1, 0), ("spurious", 0, 1)]),
    "other label and other ends": (["ADR: pain"], ["Drug: severe pain"], [("missed", 1, 0), ("spurious", 0, 1)]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    gold, predicted, expected = EXAMPLES[name]
    found = mistakes(annotated(*gold), annotated(*predicted))
    assert [(one.error, len(one.gold), len(one.predicted)) for one in found] == expected


def test_closest_pair_is_the_one_taken() -> None:
    found = mistakes(annotated("ADR: severe pain"), annotated("ADR: severe", "ADR: severe pain in"))
    assert [one.text for one in found[0].predicted] == ["severe pain in"]


@given(pair=small_pairs())
def test_every_error_is_in_exactly_one_class(pair: tuple[Document, Document]) -> None:
    gold, predicted = ({one.key for one in document.entities} for document in pair)
    found = mistakes(*pair)
    assert sorted(one.key for mistake in found for one in mistake.gold) == sorted(gold - predicted)
    assert sorted(one.key for mistake in found for one in mistake.predicted) == sorted(predicted - gold)
    evaluation = evaluate([pair[0]], [pair[1]])
    overall = evaluation.overall
    assert sum(count.gold for count in evaluation.errors.values()) == overall.gold - overall.found
    assert sum(count.predicted for count in evaluation.errors.values()) == overall.predicted - overall.right
    for error, count in evaluation.errors.items():
        assert count.errors == sum(mistake.error == error for mistake in found)


Named = tuple[str, frozenset, frozenset]  # class, keys of gold entities, keys of predictions


def literal(gold: Document, predicted: Document) -> set[Named]:
    """The definitions read aloud, over sets of characters, trying every way to pair."""
    missing = in_text_order(
        [one for one in gold.entities if one.key not in {other.key for other in predicted.entities}]
    )
    wrong = in_text_order([one for one in predicted.entities if one.key not in {other.key for other in gold.entities}])
    found: set[Named] = set()

    def note(error: str, gold_side: list[Entity], predicted_side: list[Entity]) -> None:
        found.add((error, keys(gold_side), keys(predicted_side)))
        for one in gold_side:
            missing.remove(one)
        for one in predicted_side:
            wrong.remove(one)

    for one in list(missing):
        renamed = [other for other in wrong if characters(other) == characters(one)]
        if renamed:
            note("wrong_type", [one], renamed[:1])
    for whole in list(wrong):
        parts = parts_of(whole, missing)
        if len(parts) >= 2:
            note("merged", parts, [whole])
    for whole in list(missing):
        parts = parts_of(whole, wrong)
        if len(parts) >= 2:
            note("split", [whole], parts)
    for one, other in best_pairing(missing, wrong):
        note(literal_class(one, other), [one], [other])
    for one in list(missing):
        note("missed", [one], [])
    for one in list(wrong):
        note("spurious", [], [one])
    return found


def in_text_order(entities: list[Entity]) -> list[Entity]:
    by_key = {one.key: one for one in entities}
    return sorted(by_key.values(), key=lambda one: (one.fragments, one.label))


def keys(entities: Iterable[Entity]) -> frozenset:
    return frozenset(one.key for one in entities)


def characters(*entities: Entity) -> set[int]:
    return {place for one in entities for start, end in one.fragments for place in range(start, end)}


def parts_of(whole: Entity, candidates: list[Entity]) -> list[Entity]:
    inside = [one for one in candidates if one.label == whole.label and characters(one) <= characters(whole)]
    return [one for one in inside if not any(characters(one) < characters(other) for other in inside)]


def literal_class(gold: Entity, predicted: Entity) -> str:
    untouched_gold = [one for one in gold.fragments if not set(range(*one)) & characters(predicted)]
    untouched_predicted = [one for one in predicted.fragments if not set(range(*one)) & characters(gold)]
    if untouched_gold and not untouched_predicted:
        return "missing_fragment"
    if untouched_predicted and not untouched_gold:
        return "extra_fragment"
    return "boundary"


def best_pairing(gold: list[Entity], predicted: list[Entity]) -> list[tuple[Entity, Entity]]:
    """Of all ways to pair, the one whose closest pair is closest, then whose second closest is, and so on."""

    def rank(pair: tuple[Entity, Entity]) -> tuple:
        one, other = pair
        shared = len(characters(one) & characters(other))
        return -Fraction(shared, len(characters(one, other))), one.fragments, other.fragments, one.label

    def rank_all(pairs: list[tuple[Entity, Entity]]) -> list[tuple]:
        return [*sorted(map(rank, pairs)), (Fraction(1),)]  # the last sorts after any pair: more pairs are better

    slots: list[Entity | None] = [*predicted, *([None] * len(gold))]
    ways = (
        [
            (one, other)
            for one, other in zip(gold, order, strict=True)
            if other is not None and one.label == other.label and characters(one) & characters(other)
        ]
        for order in set(permutations(slots, len(gold)))
    )
    return min(ways, key=rank_all)


@settings(max_examples=300)
@given(pair=small_pairs(max_size=3))
def test_agrees_with_the_literal_reading(pair: tuple[Document, Document]) -> None:
    found = {(one.error.value, keys(one.gold), keys(one.predicted)) for one in mistakes(*pair)}
    assert found == literal(*pair)


def test_every_class_has_an_example() -> None:
    assert {error for *_, errors in EXAMPLES.values() for error, *_ in errors} == set(ErrorClass)


# Nearby


places = st.integers(0, len(LETTERS))


@given(entities=st.lists(small_entities(), max_size=6), start=places, end=places)
def test_finds_all_that_reach_into_a_stretch(entities: list[Entity], start: int, end: int) -> None:
    expected = [entity for entity in entities if entity.start < end and start < entity.end]
    assert Nearby(entities)(start, end) == sorted(expected, key=lambda entity: entity.start)
