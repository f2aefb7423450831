from __future__ import annotations

from disconer import Document, Entity, Kind
from disconer.evaluate import ErrorClass
from disconer.evaluate.mistakes import LONGEST, instructive

TEXT = "Pain and stiffness in knees. Rash after aspirin. Fever and cough.\n" + "Very long " * (LONGEST // 8) + "rash."


def entity(label: str, *parts: str, score: float | None = None) -> Entity:
    places, position = [], 0
    for part in parts:
        start = TEXT.index(part, position)
        position = start + len(part)
        places.append((start, position))
    return Entity(label, tuple(places), score=score)


def document(id: str, *entities: Entity) -> Document:
    return Document(id, TEXT, entities)


GOLD = [
    entity("ADR", "Pain", "in knees"),
    entity("ADR", "stiffness in knees"),
    entity("Drug", "aspirin"),
    entity("ADR", "Rash"),
    entity("ADR", "Fever"),
    entity("ADR", "rash."),
]


def pair(id: str, *found: Entity) -> tuple[Document, Document]:
    return document(id, *GOLD), document(id, *found)


def test_the_hardest_kind_and_a_class_of_its_own_each_come_first() -> None:
    right = GOLD[1], GOLD[3], GOLD[4]
    chosen = instructive([pair("a", *right, entity("ADR", "aspirin", score=0.9), entity("ADR", "cough", score=0.8))], 3)
    assert [(one.kind, one.mistake.error) for one in chosen] == [
        (Kind.DISCONTINUOUS, ErrorClass.MISSED),
        (Kind.REGULAR, ErrorClass.WRONG_TYPE),
        (Kind.REGULAR, ErrorClass.SPURIOUS),
    ]
    assert [one.gold.text for one in chosen] == [
        "Pain and stiffness in knees.",
        "Rash after aspirin.",
        "Fever and cough.",
    ]


def test_of_alike_ones_the_surest_comes() -> None:
    pairs = [pair(id, *GOLD, entity("ADR", "cough", score=score)) for id, score in (("a", 0.4), ("b", 0.9), ("c", 0.5))]
    assert [one.gold.id.partition(",")[0] for one in instructive(pairs, 2)] == ["b", "c"]
    assert instructive(pairs, 2) == instructive(pairs[::-1], 2)


def test_no_sentence_twice_and_none_that_is_too_long() -> None:
    chosen = instructive([pair("a")])
    assert sorted(one.gold.text for one in chosen) == [
        "Fever and cough.",
        "Pain and stiffness in knees.",
        "Rash after aspirin.",
    ]


def test_entities_stand_in_the_sentence_as_they_stood_in_the_text() -> None:
    (one,) = instructive([pair("a", *GOLD, entity("ADR", "cough", score=0.8))])
    assert [wrong.text for wrong in one.mistake.predicted] == ["cough"]
    assert {found.text for found in one.predicted.entities} == {"Fever", "cough"}
    assert one.certainty == 0.8


def test_nothing_wrong() -> None:
    assert instructive([pair("a", *GOLD)]) == []
