from __future__ import annotations

from annotated import annotated, entity
from disconer.evaluate import Evaluation, evaluate
from disconer.evaluate.table import tables


def rows(evaluation: Evaluation) -> dict[str, tuple[str, ...]]:
    """The figures of every row, by its name."""
    return {row[0]: row[1:] for table in tables(evaluation) for section in table.sections for row in section}


def test_rows() -> None:
    gold = annotated("ADR: pain … hands", "ADR: itching", "Site: arm")
    predicted = gold.replace(entities=(entity("ADR: pain", score=0.5), entity("ADR: itching", score=0.9)))
    evaluation = evaluate([gold], [predicted])
    found = rows(evaluation)
    assert found["all"] == ("50.0", "33.3", "40.0", "3", "1", "2", "1")
    assert found["discontinuous"] == ("–", "0.0", "0.0", "1", "0", "0", "0")
    assert found["overlapped"] == ("–", "–", "–", "0", "0", "0", "0")
    assert found["Site"] == ("–", "0.0", "0.0", "1", "0", "0", "0")
    assert found["in sentences with discontinuous gold (1)"] == ("0.0", "0.0", "0.0", "1", "0", "1", "0")
    assert found["fragments"] == ("100.0", "50.0", "66.7", "4", "2", "2", "2")
    assert found["missing fragment"] == ("1", "1", "1")
    assert found["0.9 to 1.0"] == ("90.0", "100.0", "1")
    assert [table.note for table in tables(evaluation)][-1] == "expected calibration error 30.0"


def test_every_row_fits_its_columns() -> None:
    gold = annotated("ADR: pain … hands", "ADR: itching")
    for table in tables(evaluate([gold], [gold])):
        assert {len(row) for section in table.sections for row in section} == {len(table.columns)}


def test_nothing_to_show_is_no_problem() -> None:
    figures, lenient, errors = tables(evaluate([], []))
    assert figures.sections[0] == [("all", "–", "–", "–", "0", "0", "0", "0")]
    assert figures.note.startswith("95 % intervals of F1 over documents: all –, discontinuous –. By kind,")
    assert lenient.sections[0][0] == ("same label, a shared word", "–", "–", "–", "0", "0", "0", "0")
    assert errors.title == "Errors"
