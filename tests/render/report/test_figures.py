from __future__ import annotations

import re

from disconer.evaluate.calibration import Calibration
from disconer.render.report.figures import Epoch, calibration_plot, learning_plots
from disconer.render.report.plots import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, Series, plot


def places(figure: str) -> list[tuple[float, float]]:
    (path,) = re.findall(r'class="series" d="M([^"]*)"', figure)
    return [(float(x), float(y)) for x, y in (point.split() for point in path.split("L"))]


def test_points_stand_where_their_figures_are() -> None:
    figure = plot("t", Axis("x", 0, 10, ()), Axis("y", 0, 100, ()), [Series("s", [(0, 0), (10, 100), (5, 50)])])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    assert places(figure) == [(LEFT, bottom), (right, TOP), ((LEFT + right) / 2, (TOP + bottom) / 2)]


def test_calibration_has_a_dot_for_each_bin_with_predictions() -> None:
    calibration = Calibration()
    for score, right in ((0.95, True), (0.96, False), (0.15, False)):
        calibration.add(score, right)
    figure = calibration_plot(calibration)
    assert figure.count("<circle") == 2
    assert "score 0.9 to 1.0: 2 predictions, 50.0 % right" in figure
    assert calibration_plot(Calibration()) == ""


def test_one_epoch_is_no_curve() -> None:
    epochs = [Epoch(1, 2.0, 0.5, 0.5), Epoch(2, 1.0, 0.6, 0.5)]
    assert list(learning_plots(epochs[:1])) == []
    assert len(list(learning_plots(epochs))) == 2


def test_a_loss_of_zero_is_plotted() -> None:
    assert len(list(learning_plots([Epoch(1, 0.0, 0.0, 0.0), Epoch(2, 0.0, 0.0, 0.0)]))) == 2
