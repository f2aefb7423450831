from __future__ import annotations

import pytest
from hypothesis import given, settings

from disconer import Document, Entity, Kind
from disconer.evaluate.check import EDGE, Ceiling
from disconer.evaluate.measures import Counts, unique
from disconer.nn.heads.span import SPAN
from disconer.nn.heads.span.kind import RelationSettings, SpanSettings
from disconer.nn.heads.span.targets import JOINED, MERGED, SPLIT, WITHIN, too_wide
from disconer.text import segment
from disconer.text.alignment import CROSSES, INSIDE, align
from nn.heads.span.oracles import oracle, width_ceiling
from strategies import documents, tokenised_documents

TEXT = "a b c d e f g h. X y."  # tokens of one character, 2 apart


def tokens(*ranges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((2 * first, 2 * last + 1) for first, last in ranges)


def ceiling(*entities: Entity, widths: tuple[int, ...] = (1, 2)) -> Ceiling:
    found = width_ceiling([*widths, None])
    found.add(segment(Document("d", TEXT, entities)))
    return found


def test_a_width_loses_what_is_wider_and_may_make_up_the_rest() -> None:
    found = ceiling(Entity("A", tokens((0, 2))), Entity("A", tokens((3, 3), (5, 6))))
    assert found.total("None") == Counts(2, 2, 2, 2)
    assert found.total("2") == Counts(2, 1, 1, 1)
    assert found.total("1") == Counts(2, 0, 1, 0)  # d without f g
    assert found.counts["1"] == {
        Kind.REGULAR: Counts(1, 0, 1, 0),
        Kind.DISCONTINUOUS: Counts(1, 0, 0, 0),
    }
    assert found.lost == {"1": {too_wide(1): 2}, "2": {too_wide(2): 1}, "None": {}}
    assert found.extra == {"1": 1, "2": 0, "None": 0}


def test_an_entity_within_a_larger_one_is_lost() -> None:
    found = ceiling(Entity("A", tokens((0, 0))), Entity("A", tokens((0, 0), (2, 2))))
    assert found.lost["None"] == {WITHIN: 1}
    assert found.total("None") == Counts(2, 1, 1, 1)


def test_another_label_keeps_it() -> None:
    assert ceiling(Entity("B", tokens((0, 0))), Entity("A", tokens((0, 0), (2, 2)))).lost["None"] == {}


def test_fragments_that_another_label_joins_are_joined() -> None:
    alone = [Entity("B", tokens((0, 0))), Entity("B", tokens((2, 2)))]
    found = ceiling(*alone, Entity("A", tokens((0, 0), (2, 2))))
    assert (found.lost["None"], found.extra["None"]) == ({JOINED: 2}, 1)


def test_a_triangle_of_pairs_becomes_one() -> None:
    pairs = [((0, 0), (2, 2)), ((2, 2), (4, 4)), ((0, 0), (4, 4))]
    found = ceiling(*(Entity("A", tokens(*pair)) for pair in pairs))
    assert found.lost["None"] == {MERGED: 3}
    assert found.extra["None"] == 1
    assert found.total("None") == Counts(3, 0, 1, 0)


@pytest.mark.parametrize(
    ("fragments", "reason"),
    [
        (((12, 18),), CROSSES),
        (((0, 2),), EDGE),
        (((1, 3),), EDGE),
        (((0, 1), (3, 5)), EDGE),
    ],
)
def test_what_tokens_cannot_say_is_lost_at_every_width(fragments: tuple[tuple[int, int], ...], reason: str) -> None:
    entity = Entity("A", fragments)
    found = ceiling(entity, entity)  # a repeated annotation is one entity
    assert list(found.lost.values()) == [{reason: 1}] * 3
    assert [found.total(name).gold for name in found.names] == [1, 1, 1]
    assert found.total("None").predicted == 0


def test_inside_a_token() -> None:
    found = width_ceiling([6])
    lost = found.add(segment(Document("d", "hypertension", (Entity("A", ((5, 12),)),))))
    assert [(entity.text, reason) for entity, reason in lost] == [("tension", INSIDE)]


@settings(max_examples=60)
@given(document=documents() | tokenised_documents())
def test_adds_up_to_the_oracle_of_the_whole_document(document: Document) -> None:
    document = segment(document)
    found = width_ceiling([1, 2, 3, None])
    lost = found.add(document)
    gold = unique(document).keys()
    for width in (1, 2, 3, None):
        assert found.total(str(width)) == Counts.of(gold, oracle(document, width))
    assert found.extra["None"] == len(oracle(document) - gold)
    # Alone, a fragment may be found that is a part of something wider without the limit.
    reached = set.union(*(oracle(document, width) for width in (1, 2, 3, None)))
    assert {entity.key for entity, _ in lost} == gold - reached


def test_without_relations_nothing_is_discontinuous() -> None:
    document = segment(Document("d", TEXT, (Entity("A", tokens((0, 0), (2, 2))), Entity("A", tokens((4, 4))))))
    settings = SpanSettings(relations=RelationSettings(enabled=False))
    entities = align(document)[0][0]
    reach = SPAN.reach(entities, 9, settings)
    assert reach.lost == {("A", ((0, 1), (2, 3))): SPLIT}
    assert reach.found == {("A", ((0, 1),)), ("A", ((2, 3),)), ("A", ((4, 5),))}
