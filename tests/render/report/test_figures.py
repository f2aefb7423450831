from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated import annotated, entity
from disconer.core.types import Document, Entity, Fragment
from disconer.evaluate.evaluation import Calibration
from disconer.evaluate.measures import unique
from disconer.render.report.figures import (
    METRICS,
    Curve,
    Epoch,
    Point,
    calibration_plot,
    learning_curve,
    learning_plots,
)
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


# Curve


GOLD = annotated("ADR: pain", "ADR: itching")


def curve_of(*predicted: Entity) -> Curve:
    curve = Curve()
    curve.add(unique(GOLD), unique(GOLD.replace(entities=predicted)))
    return curve


def test_each_threshold_has_its_precision_and_recall() -> None:
    curve = curve_of(
        entity("ADR: pain", score=0.9), entity("ADR: knees", score=0.5), entity("ADR: itching", score=0.25)
    )
    assert list(curve.points()) == [
        Point(0.9, 1.0, 0.5, 2 / 3),
        Point(0.5, 0.5, 0.5, 0.5),
        Point(0.25, 2 / 3, 1.0, 0.8),
    ]
    assert curve.best == Point(0.25, 2 / 3, 1.0, 0.8)


def test_without_scores_there_is_no_best_threshold() -> None:
    assert curve_of(entity("ADR: pain")).best is None
    assert curve_of().best is None


@given(st.lists(st.tuples(st.integers(0, 1000), st.booleans()), max_size=20))
def test_points_are_those_of_the_predictions_above_the_threshold(scored: list[tuple[int, bool]]) -> None:
    text = "x" * (2 * len(scored) + 1)
    entities = [Entity("A", (Fragment(2 * n, 2 * n + 1),), score=score / 1000) for n, (score, _) in enumerate(scored)]
    gold = Document("d", text, tuple(one for one, (_, right) in zip(entities, scored, strict=True) if right))
    curve = Curve()
    curve.add(unique(gold), unique(Document("d", text, tuple(entities))))
    for point in curve.points():
        kept = [right for score, right in scored if score / 1000 >= point.threshold]
        assert point.precision == sum(kept) / len(kept)
        assert point.recall == (sum(kept) / len(gold.entities) if gold.entities else 0)


# Learning


RECORD = {"epoch": 1, "loss": 2.5, "dev_f1": 0.5, "dev_f1_discontinuous": 0.25, "seconds": 3.0}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "best").mkdir()
    (tmp_path / METRICS).write_text(json.dumps(RECORD) + "\n", "utf-8")
    return tmp_path


def test_the_run_and_its_models_have_a_curve(run: Path) -> None:
    expected = [Epoch(1, 2.5, 0.5, 0.25)]
    assert learning_curve(str(run)) == learning_curve(str(run / "best")) == expected


def test_other_models_have_none(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run)
    assert learning_curve("somebody/some-model") == []
    assert learning_curve(str(run / "best" / "deeper")) == []


@pytest.mark.parametrize("content", ["{", '{"epoch": 1}', json.dumps(RECORD | {"loss": float("nan")}), "[]"])
def test_a_damaged_record_is_none(run: Path, content: str) -> None:
    (run / METRICS).write_text(content, "utf-8")
    assert learning_curve(str(run)) == []
