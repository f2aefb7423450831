from __future__ import annotations

import json

from disconer import BadInput, Document, Entity, Ledger
from disconer.core.errors import Where
from disconer.core.types import Kind
from disconer.evaluate.check import EDGE, EXAMPLES_EACH, TWICE, Ceiling, Reach, check
from disconer.evaluate.measures import Counts
from disconer.nn.heads.span.targets import WITHIN, too_wide
from nn.heads.span.oracles import width_ceiling

TEXT = "pain in hands and feet"
PAIN, HANDS, FEET = (0, 4), (8, 13), (18, 22)


def test_a_sound_corpus() -> None:
    account = check(
        [Document("a", TEXT, (Entity("ADR", (PAIN, HANDS)), Entity("ADR", (PAIN, FEET)))), Document("b", "")],
        width_ceiling([6]),
    )
    assert (account.documents, account.entities, account.warnings, account.examples) == (2, 2, {}, [])
    assert not account.has_errors
    assert account.ceiling.total("6").f1 == 1


def test_oddities_are_counted_and_some_are_shown_with_their_place() -> None:
    entities = [
        *(Entity("ADR", (FEET,), f"T{number}") for number in range(6)),
        Entity("ADR", ((0, 5),), "T6"),
        Entity("ADR", (HANDS,), "T7"),
        Entity("ADR", (HANDS, FEET), "T8"),
    ]
    account = check([Document("a", TEXT, tuple(entities))], width_ceiling([6]))
    assert account.warnings == {TWICE: 5, EDGE: 1, WITHIN: 2}
    assert [example.problem for example in account.examples].count(TWICE) == EXAMPLES_EACH
    message = next(example.message for example in account.examples if example.problem == EDGE)
    assert message == "document 'a', entity T6, offset 0: ADR 'pain ' has whitespace at an edge."
    assert not account.has_errors


def test_entities_have_their_kind_in_the_data_whatever_is_lost_beside_them() -> None:
    """Of "pain in hands and feet" and "pain" only the first can be found: it is overlapped all the same."""
    outer, inner = Entity("ADR", ((0, 22),)), Entity("ADR", (PAIN,))
    alone = Ceiling({"one": lambda entities, _: Reach(frozenset({entities[0].key}), {entities[1].key: "is lost"})})
    check([Document("a", TEXT, (outer, inner))], alone)
    assert alone.counts["one"] == {Kind.OVERLAPPED: Counts(gold=2, found=1, predicted=1, right=1)}


def test_errors_of_the_reader_come_first() -> None:
    ledger = Ledger(skip_bad=True)
    ledger.error(BadInput("bad-offset", "A fragment ends past the end of the text", where=Where("a.ann", 3)))
    account = check([Document("a", TEXT, (Entity("ADR", (PAIN,)),) * 2)], width_ceiling([6]), ledger)
    assert account.has_errors
    assert [example.problem for example in account.examples] == ["bad-offset", TWICE]
    assert account.examples[0].to_dict()["line"] == 3


def test_json_keys_stay() -> None:
    figures = check([Document("a", TEXT, (Entity("ADR", ((0, 22),)),))], width_ceiling([4, 5])).to_dict()
    assert json.loads(json.dumps(figures)) == figures
    assert list(figures) == [
        "documents", "entities", "sentences", "sentences_with_heads", "errors", "repairs", "warnings", "examples",
        "oracle", "heads",
    ]  # fmt: skip
    oracle = figures["oracle"]
    assert list(oracle) == ["4", "5"]
    assert oracle["4"]["regular"]["recall"] == 0
    assert oracle["5"]["all"] == {
        "gold": 1, "found": 1, "predicted": 1, "right": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0,
    }  # fmt: skip
    assert [(one["lost"], one["extra"]) for one in oracle.values()] == [({too_wide(4): 1}, 0), ({}, 0)]
