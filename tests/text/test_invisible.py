"""Zero-width characters: no words, and neither in the way of entities nor at their edges."""

from __future__ import annotations

import pytest

from disconer.core.types import Document, Entity, Fragment
from disconer.predict.chunks import _without_edges
from disconer.text import segment
from disconer.text.alignment import align, to_fragments, visible_part

TEXT = "\ufeffmild\u200b pain\u00ad in \u200bknees\u200b \u200e.\u200b"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([(1, 5)], [(1, 5)]),
        ([(0, 6)], [(1, 5)]),
        ([(0, 7), (15, 23)], [(1, 5), (17, 22)]),
        ([(5, 6), (7, 12)], [(7, 11)]),  # a fragment of nothing else goes
        ([(22, 25)], []),
        ([(1, 12)], [(1, 11)]),
    ],
)
def test_edges(given: list[tuple[int, int]], found: list[tuple[int, int]]) -> None:
    assert visible_part(TEXT, [Fragment(*pair) for pair in given]) == tuple(found)


@pytest.mark.parametrize("text", ["❤\ufe0f", "e\u0301", "\u0661", "🏴\U000e0067\U000e007f", "≥ 5 %", "(mild)"])
def test_marks_on_what_is_seen_stay(text: str) -> None:
    assert visible_part(f" {text} ", [Fragment(0, len(text) + 2)]) == ((1, len(text) + 1),)


@pytest.mark.parametrize("pairs", [[(1, 5)], [(0, 6)], [(1, 6), (16, 23)], [(17, 22)]])
def test_entities_have_words_wherever_an_annotator_drew_their_edges(pairs: list[tuple[int, int]]) -> None:
    document = segment(Document("d", TEXT, (Entity("A", tuple(Fragment(*pair) for pair in pairs)),)))
    ((aligned,), unaligned) = align(document)
    assert not unaligned
    (sentence,) = document.sentences or ()
    assert to_fragments(aligned[0].ranges, sentence) == visible_part(TEXT, document.entities[0].fragments)


def test_an_entity_that_nobody_sees_has_no_words() -> None:
    document = segment(Document("d", "pain \u200b.", (Entity("A", (Fragment(5, 6),)),)))
    assert [len(found) for found in align(document)] == [1, 1]
    assert align(document)[0] == [[]]


def test_a_text_of_nothing_else_has_no_sentences() -> None:
    assert segment(Document("d", "\ufeff\u200b \n\u200e")).sentences == ()


def test_of_predictions_that_become_alike_the_best_stays() -> None:
    placed = [
        (0, 5, "A", (Fragment(0, 5),), 0.5),
        (1, 5, "A", (Fragment(1, 5),), 0.7),
        (1, 5, "B", (Fragment(1, 5),), 0.4),
        (22, 23, "A", (Fragment(22, 23),), 0.9),
    ]
    assert list(_without_edges(placed, TEXT)) == [(1, 5, "A", ((1, 5),), 0.7), (1, 5, "B", ((1, 5),), 0.4)]


def test_whitespace_at_an_edge_remains_a_mistake_that_is_counted() -> None:
    document = segment(Document("d", "pain \u200b", (Entity("A", (Fragment(0, 5),)),)))
    assert [len(found) for found in align(document)] == [1, 1]
    assert align(document)[0] == [[]]
