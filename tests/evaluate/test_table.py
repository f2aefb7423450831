from __future__ import annotations

import re
from io import StringIO

from rich.console import Console

from annotated import annotated, entity
from disconer.evaluate import Evaluation, evaluate
from disconer.evaluate.table import tables


def shown(evaluation: Evaluation) -> dict[str, list[str]]:
    """The cells of each row, by its name."""
    screen = StringIO()
    Console(width=120, file=screen).print(tables(evaluation))
    rows = [re.split(" {2,}", line.strip()) for line in screen.getvalue().splitlines()]
    return {cells[0]: cells[1:] for cells in rows}


def test_rows() -> None:
    gold = annotated("ADR: pain … hands", "ADR: itching", "[b]odd: arm")
    predicted = gold.replace(entities=(entity("ADR: pain", score=0.5), entity("ADR: itching", score=0.9)))
    rows = shown(evaluate([gold], [predicted]))
    assert rows["all entities"] == ["50.0", "33.3", "40.0", "3", "1", "2", "1"]
    assert rows["discontinuous"] == ["–", "0.0", "0.0", "1", "0", "0", "0"]
    assert rows["overlapped"] == ["–", "–", "–", "0", "0", "0", "0"]
    assert rows["[b]odd"] == ["–", "0.0", "0.0", "1", "0", "0", "0"]
    assert rows["fragments"] == ["100.0", "50.0", "66.7", "4", "2", "2", "2"]
    assert rows["missing fragment"] == ["1", "1", "1"]
    assert rows["0.9 to 1.0"] == ["90.0", "100.0", "1"]
    assert "expected calibration error 30.0" in rows


def test_nothing_to_show_is_no_problem() -> None:
    rows = shown(evaluate([], []))
    assert rows["all entities"] == ["–", "–", "–", "0", "0", "0", "0"]
    assert "95 % intervals of F1 over 0 documents: all –, discontinuous –" in rows
    assert "score" not in rows
