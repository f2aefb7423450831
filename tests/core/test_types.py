from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disconer import Corpus, Document, Entity, Fragment, Kind, Sentence
from disconer.core.types import normalise
from strategies import documents, texts

ranges = st.tuples(st.integers(0, 20), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def covered(pairs: object) -> set[int]:
    return {position for start, end in pairs for position in range(start, end)}


@given(pairs=st.lists(ranges, min_size=1, max_size=6))
def test_normalise_sorts_and_joins_and_covers_the_same_characters(pairs: list[tuple[int, int]]) -> None:
    fragments = normalise(pairs)
    assert covered(fragments) == covered(pairs)
    assert all(left.end < right.start for left, right in pairwise(fragments))
    assert all(type(fragment) is Fragment for fragment in fragments)
    assert normalise(fragments) == fragments
    assert normalise(reversed(pairs)) == fragments


@given(pairs=st.lists(ranges, min_size=1, max_size=6), text=st.text("ab \n\u00a0", min_size=30, max_size=30))
def test_normalise_with_text_joins_across_whitespace_only(pairs: list[tuple[int, int]], text: str) -> None:
    fragments = normalise(pairs, text)
    added = covered(fragments) - covered(pairs)
    assert covered(fragments) >= covered(pairs)
    assert all(text[position].isspace() for position in added)
    assert all(text[left.end : right.start].strip() for left, right in pairwise(fragments))
    assert normalise(fragments, text) == fragments


@pytest.mark.parametrize("pairs", [[], [(3, 3)], [(4, 3)], [(-1, 2)], [(0, 1), (5, 4)]])
def test_normalise_refuses_what_is_no_range(pairs: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match=r"needs (0 <= start < end|at least one fragment)"):
        normalise(pairs)


@given(document=documents())
def test_kinds_are_as_their_definition_says(document: Document) -> None:
    for entity in document.entities:
        others = [other for other in document.entities if other.key != entity.key]
        shares = any(covered(entity.fragments) & covered(other.fragments) for other in others)
        if len(entity.fragments) > 1:
            assert entity.kind is Kind.DISCONTINUOUS
        else:
            assert entity.kind is (Kind.OVERLAPPED if shares else Kind.REGULAR)


def test_a_repeated_annotation_does_not_overlap_itself() -> None:
    first, second = Document("d", "pain", (Entity("A", ((0, 4),), "T1"), Entity("A", ((0, 4),), "T2"))).entities
    assert first.kind is second.kind is Kind.REGULAR
    other = Document("d", "pain", (Entity("A", ((0, 4),)), Entity("B", ((0, 4),)))).entities[0]
    assert other.kind is Kind.OVERLAPPED


@given(document=documents())
def test_entities_know_their_text_in_a_document(document: Document) -> None:
    for entity in document.entities:
        assert entity.text == " ".join(document.text[start:end] for start, end in entity.fragments)
        assert (entity.start, entity.end) == (min(covered(entity.fragments)), max(covered(entity.fragments)) + 1)


def test_fragments_that_whitespace_parts_are_one_in_a_document() -> None:
    entity = Entity("A", ((0, 4), (6, 9)))
    assert len(entity.fragments) == 2
    assert Document("d", "pain\n bad", (entity,)).entities[0].fragments == ((0, 9),)
    assert Document("d", "pain, bad", (entity,)).entities[0].fragments == ((0, 4), (6, 9))


def test_entity_as_a_dictionary() -> None:
    document = Document("d", "pain in feet", (Entity("ADR", ((8, 12), (0, 4)), "T1", 0.5),))
    assert document.to_dict() == {
        "id": "d",
        "text": "pain in feet",
        "entities": [
            {
                "id": "T1",
                "label": "ADR",
                "start": 0,
                "end": 12,
                "text": "pain feet",
                "fragments": [[0, 4], [8, 12]],
                "kind": "discontinuous",
                "score": 0.5,
            }
        ],
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Entity("", ((0, 1),)), "needs a label"),
        (lambda: Entity(5, ((0, 1),)), "needs a label"),
        (lambda: Entity("A", ()), "at least one fragment"),
        (lambda: Entity("A", ((2, 1),)), "0 <= start < end"),
        (lambda: Entity("A", (Fragment(2, 2),)), "0 <= start < end"),
        (lambda: Entity("A", ((0, 1),), score=1.5), "between 0 and 1"),
        (lambda: Entity("A", ((0, 1),), score=float("nan")), "between 0 and 1"),
        (lambda: Document("", "abc"), "a document needs an id"),
        (lambda: Document("d", "abc", (Entity("A", ((0, 4),)),)), "past the text's end"),
        (lambda: Document("d", "a  c", (Entity("A", ((1, 3),)),)), "only whitespace"),
        (lambda: Document("d", "a b\n\nc", (Entity("A", ((0, 1), (4, 5))),)), "only whitespace"),
        (lambda: Document("d", "abc", sentences=(Sentence(0, 4, ()),)), "past the text's end"),
        (lambda: Document("d", "abc", sentences=(Sentence(0, 2, ()), Sentence(1, 3, ()))), "overlaps the one before"),
        (lambda: Document("d", "abc", sentences=(Sentence(2, 1, ()),)), "past the text's end"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Document(17, "abc"), "are str, got 17 and a str"),
        (lambda: Document("d", b"abc"), "are str, got 'd' and a bytes"),
        (lambda: Entity("A", (3, 5)), r"fragments are pairs \(start, end\), got \(3, 5\); a single one: \[\(3, 5\)\]"),
        (lambda: Entity("A", ((0, 1),), id=7), "the id of an entity is a str, got 7"),
        (lambda: Entity("A", ((0.0, 1),)), "'float' object cannot be interpreted as an integer"),
    ],
)
def test_what_no_format_could_write_is_refused(make: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_nothing_can_be_changed() -> None:
    document = Document("d", "abc", (Entity("A", ((0, 1),)),))
    for value, name in ((document, "text"), (document.entities[0], "label"), (Sentence(0, 1, ()), "start")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


def test_equality_and_hash_are_of_what_was_annotated() -> None:
    free, placed = Entity("A", ((0, 1),)), Document("d", "abc", (Entity("A", ((0, 1),)),)).entities[0]
    assert (free.kind, placed.kind) == (None, Kind.REGULAR)
    assert free == placed
    assert hash(free) == hash(placed)
    assert free != Entity("A", ((0, 1),), "T1")


@given(document=documents(), text=texts)
@example(document=Document("d", "a", (Entity("ADR", ((0, 1),)),)), text="\r")
def test_replace_makes_a_checked_copy(document: Document, text: str) -> None:
    assert document.replace(id="new").replace(id=document.id) == document
    fragments = [fragment for entity in document.entities for fragment in normalise(entity.fragments, text)]
    if any(end > len(text) or text[start:end].isspace() for start, end in fragments):
        with pytest.raises(ValueError, match=r"past the text's end|only whitespace"):
            document.replace(text=text)
    else:
        assert document.replace(text=text).text == text


def test_sequences_become_tuples() -> None:
    assert Document("d", "a b", [], [Sentence(0, 3, ())]).sentences == (Sentence(0, 3, ()),)


def test_corpus() -> None:
    one, two = Document("1", ""), Document("2", "")
    corpus = Corpus({"train": [one], "test": [two]})
    assert corpus["train"] == (one,)
    assert list(corpus) == [one, two]
    assert len(corpus) == 2


def test_an_entity_may_stand_in_several_documents() -> None:
    entity = Entity("A", ((0, 4),))
    first = Document("d", "pain", (entity,)).entities[0]
    second = Document("e", "rash", (entity, Entity("B", ((1, 2),)))).entities[0]
    assert (first.text, first.kind) == ("pain", Kind.REGULAR)
    assert (second.text, second.kind) == ("rash", Kind.OVERLAPPED)
    assert first == second
