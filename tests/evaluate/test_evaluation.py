from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated import annotated, entity
from disconer.evaluate import Calibration, Evaluation, evaluate

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
        "lenient",
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


def filled(predictions: list[tuple[float | None, bool]]) -> Calibration:
    calibration = Calibration()
    for score, right in predictions:
        calibration.add(score, right)
    return calibration


def test_bins_and_error() -> None:
    calibration = filled([(0.0, False), (0.81, True), (0.89, False), (1.0, True), (None, True)])
    table = [(bin.low, bin.count, bin.mean_score, bin.share_right) for bin in calibration.bins if bin.count]
    assert table == [(0.0, 1, 0.0, 0.0), (0.8, 2, pytest.approx(0.85), 0.5), (0.9, 1, 1.0, 1.0)]
    assert (calibration.scored, calibration.unscored) == (4, 1)
    assert calibration.error == pytest.approx(2 / 4 * (0.85 - 0.5))


@given(predictions=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_error_is_the_weighted_gap(predictions: list[tuple[float, bool]]) -> None:
    expected = 0.0
    for number in range(10):
        own = [one for one in predictions if int(one[0] * 10) == number or (number == 9 and one[0] == 1)]
        if own:
            gap = abs(sum(score for score, _ in own) / len(own) - sum(right for _, right in own) / len(own))
            expected += len(own) / len(predictions) * gap
    assert filled(predictions).error == pytest.approx(expected)


def test_without_scores_there_is_no_error() -> None:
    calibration = filled([(None, True), (None, False)])
    assert calibration.error is None
    assert calibration.to_dict() is None
    assert calibration.unscored == 2
