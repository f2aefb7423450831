from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.evaluate import Calibration


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
