"""Labels of words: every continuous entity comes back, and valid labels always make entities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.evaluate.check import WordEntity
from disconer.nn.heads.sequence.labels import (
    DISCONTINUOUS,
    Alphabet,
    State,
    crowded,
    label_names,
    oracle,
    read,
    sequence_reach,
    valid_labels,
    write,
)
from nn.heads.sentences import LABELS, N_WORDS, sentences

NUMBERS = {label: number for number, label in enumerate(LABELS)}
ALL = 99  # labels of a word: as many as one likes


def read_again(numbers: list[int]) -> list[WordEntity]:
    return [(LABELS[one.label], (one.words,)) for one in read(numbers, len(LABELS))]


def assert_valid(numbers: list[int], most: int) -> None:
    """The sequence leads to the end of the sentence through valid labels only."""
    alphabet, state = Alphabet(len(LABELS), most), State()
    valid = valid_labels(len(LABELS))
    for number in numbers:
        assert valid[state.choice(N_WORDS, alphabet), number]
        state = state.after(number, len(LABELS))
    assert state == State(N_WORDS)


@given(sentences(), st.integers(1, 5))
def test_labels_make_exactly_what_is_not_lost(gold: list[WordEntity], most: int) -> None:
    numbers, lost = oracle(gold, N_WORDS, NUMBERS, most)
    assert_valid(numbers, most)
    found = read_again(numbers)
    assert len(found) == len(set(found))
    assert set(found) == set(gold) - set(lost)


@given(sentences())
def test_only_discontinuous_entities_are_lost_if_there_is_room(gold: list[WordEntity]) -> None:
    assert set(oracle(gold, N_WORDS, NUMBERS, ALL).lost) == {key for key in gold if len(key[1]) > 1}


@given(st.data(), st.integers(1, 3))
def test_any_valid_labels_come_to_an_end_and_can_be_written_again(data: st.DataObject, most: int) -> None:
    alphabet, state, numbers = Alphabet(len(LABELS), most), State(), []
    valid = valid_labels(len(LABELS))
    while state.word < N_WORDS:
        may = valid[state.choice(N_WORDS, alphabet)].nonzero()[0].tolist()
        numbers.append(data.draw(st.sampled_from(may)))
        state = state.after(numbers[-1], len(LABELS))
    assert state == State(N_WORDS)
    assert len(numbers) <= N_WORDS * (most + 1)
    entities = read(numbers, len(LABELS))
    assert sorted(place for one in entities for place in one.places) == [n for n, one in enumerate(numbers) if one]
    again = write({(one.label, one.words) for one in entities}, N_WORDS, len(LABELS))
    assert set(read_again(again)) == set(read_again(numbers))


@pytest.mark.parametrize(
    ("entities", "labels"),
    [
        ([("X", (0, 3)), ("Y", (1, 2))], "B-X | I-X U-Y | L-X |"),
        ([("X", (0, 2)), ("X", (0, 3)), ("Y", (0, 2))], "B-X B-X B-Y | I-X L-X L-Y | L-X |"),
        ([("X", (0, 2)), ("X", (1, 3))], "B-X | L-X B-X | L-X |"),
        ([("Y", (2, 3)), ("X", (2, 3))], "| | U-X U-Y |"),
    ],
    ids=["nested", "starting together", "crossing", "the same word"],
)
def test_longer_and_earlier_entities_come_first(entities: list[tuple[str, tuple[int, int]]], labels: str) -> None:
    numbers = write([(NUMBERS[label], words) for label, words in entities], 3, len(LABELS))
    assert " ".join("|" if number == 0 else label_names(LABELS)[number] for number in numbers) == labels


def test_what_is_lost_has_a_reason() -> None:
    apart, inner = ("X", ((0, 1), (3, 4))), ("X", ((1, 2),))
    reach = sequence_reach([apart, inner, ("Y", ((0, 3),)), ("X", ((0, 4),))], 4, 2)
    assert reach.found == {("Y", ((0, 3),)), ("X", ((0, 4),))}
    assert reach.lost == {apart: DISCONTINUOUS, inner: crowded(2)}
