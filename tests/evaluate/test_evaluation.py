from __future__ import annotations

import json

from annotated import annotated, entity
from disconer.evaluate import Evaluation, evaluate

GOLD = [annotated("ADR: pain … hands", "ADR: itching", id="a"), annotated("Drug: arm", id="b")]
SCORED = annotated(id="a").replace(
    entities=(entity("ADR: pain", score=0.5), entity("ADR: itching", score=0.9)),
)


def result() -> Evaluation:
    return evaluate(GOLD, [SCORED, annotated("New: arm", id="b")])


def test_json_has_counts_and_ratios_under_stable_keys() -> None:
    figures = json.loads(json.dumps(result().to_dict()))
    assert list(figures) == [
        "documents",
        "overall",
        "discontinuous",
        "discontinuous_sentences",
        "fragments",
        "relations",
        "kinds",
        "labels",
        "intervals",
        "errors",
        "calibration",
    ]
    assert figures["documents"] == 2
    third = 1 / 3
    assert figures["overall"] == {
        "gold": 3,
        "found": 1,
        "predicted": 3,
        "right": 1,
        "precision": third,
        "recall": third,
        "f1": third,
    }
    assert figures["discontinuous_sentences"]["sentences"] == 1
    assert list(figures["kinds"]) == ["regular", "overlapped", "discontinuous"]
    assert list(figures["labels"]) == ["ADR", "Drug", "New"]
    assert figures["errors"]["missing_fragment"] == {"errors": 1, "gold": 1, "predicted": 1}
    assert figures["errors"]["wrong_type"] == {"errors": 1, "gold": 1, "predicted": 1}
    assert figures["errors"]["split"] == {"errors": 0, "gold": 0, "predicted": 0}
    assert figures["intervals"]["overall_f1"] == [0.0, 0.5]
    assert figures["calibration"]["scored"] == 2
    assert figures["calibration"]["unscored"] == 1
    assert len(figures["calibration"]["bins"]) == 10


def test_what_cannot_be_said_is_null() -> None:
    figures = json.loads(json.dumps(evaluate([annotated()], [annotated()]).to_dict()))
    assert figures["calibration"] is None
    assert figures["intervals"]["overall_f1"] is None
    assert figures["overall"]["f1"] == 0.0


def test_adding_documents_one_by_one_is_the_same() -> None:
    evaluation = Evaluation()
    evaluation.add(GOLD[0], SCORED)
    evaluation.add(GOLD[1], annotated("New: arm", id="b"))
    assert evaluation == result()
