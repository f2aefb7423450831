from __future__ import annotations

import pytest

from annotated import annotated
from disconer.evaluate import Evaluation, Spread, evaluate, over_seeds

GOLD = annotated("ADR: pain", "ADR: itching", "ADR: pain … hands")


def runs() -> list[Evaluation]:
    predictions = (["ADR: pain"], ["ADR: pain", "ADR: itching"], ["ADR: pain", "ADR: itching", "ADR: pain … hands"])
    return [evaluate([GOLD], [annotated(*mentions)]) for mentions in predictions]


def test_mean_and_sample_deviation_of_any_figure() -> None:
    recall = over_seeds(runs(), lambda run: run.overall.recall)
    assert recall == (pytest.approx(2 / 3), pytest.approx(1 / 3), 3)
    assert str(recall) == "66.7 ± 33.3"
    assert over_seeds(runs(), lambda run: run.discontinuous.f1).mean == pytest.approx(1 / 3)


def test_one_run_has_no_deviation() -> None:
    spread = over_seeds(runs()[:1], lambda run: run.overall.precision)
    assert spread == Spread(1.0, None, 1)
    assert str(spread) == "100.0"


def test_no_runs() -> None:
    with pytest.raises(ValueError, match="no runs"):
        over_seeds([], lambda run: run.overall.f1)
