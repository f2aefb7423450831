"""Lenient matching, beside the strict figures and never in them."""

from __future__ import annotations

from hypothesis import given

from annotated import annotated
from disconer import Document, Entity
from disconer.core.types import normalise
from disconer.evaluate import Evaluation, evaluate
from disconer.evaluate.table import tables
from strategies import documents

TEXT = "pain in knees and stiff hands"
GOLD = Document("d", TEXT, (Entity("ADR", ((0, 4), (24, 29))), Entity("ADR", ((8, 13),)), Entity("Drug", ((18, 23),))))


def measured(*predicted: Entity) -> Evaluation:
    return evaluate([GOLD], [Document("d", TEXT, predicted)])


def test_a_shared_word_is_enough() -> None:
    found = measured(Entity("ADR", ((18, 29),)), Entity("Drug", ((0, 4),)), Entity("ADR", ((14, 17),)))
    assert found.overall.right == 0
    same, some = found.lenient
    assert (same.gold, same.found, same.predicted, same.right) == (3, 1, 3, 1)
    assert (some.gold, some.found, some.predicted, some.right) == (3, 2, 3, 2)


def test_part_of_a_word_is_that_word() -> None:
    assert measured(Entity("ADR", ((0, 2),))).lenient.same_label.found == 1
    assert measured(Entity("ADR", ((8, 11),))).lenient.same_label.found == 1


@given(documents(), documents())
def test_strict_is_never_above_lenient_and_same_never_above_any(gold: Document, other: Document) -> None:
    fitting = tuple(entity for entity in other.entities if _fits(entity, gold.text))
    found = evaluate([gold], [gold.replace(entities=fitting)])
    assert found.overall.found <= found.lenient.same_label.found <= found.lenient.any_label.found
    assert found.overall.right <= found.lenient.same_label.right <= found.lenient.any_label.right
    assert found.lenient.any_label.gold == found.overall.gold


def _fits(entity: Entity, text: str) -> bool:
    if entity.end > len(text):
        return False
    return not any(text[start:end].isspace() for start, end in normalise(entity.fragments, text))


def test_it_is_named_and_apart() -> None:
    gold = annotated("ADR: pain … hands")
    found = evaluate([gold], [annotated("ADR: pain", id=gold.id)])
    assert found.to_dict()["overall"]["f1"] == 0
    assert found.to_dict()["lenient"]["same_label"]["f1"] == 1
    strict, lenient, *_ = tables(found)
    assert lenient.title == "Lenient matching"
    assert "All other figures are strict" in lenient.note
    assert "By kind, found and right may differ" in strict.note
