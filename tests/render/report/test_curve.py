from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotated import annotated, entity
from disconer.core.types import Document, Entity, Fragment
from disconer.evaluate.measures import unique
from disconer.render.report.figures import Curve, Point

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
