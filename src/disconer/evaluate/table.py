"""An evaluation as tables of strings, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from disconer.core.counting import counted
from disconer.evaluate.evaluation import Calibration, Evaluation
from disconer.evaluate.measures import LEVEL, Counts, Interval

NONE = "–"
FIGURES = ("", "P", "R", "F1", "gold", "found", "predicted", "right")
SUMS = (
    "By kind, found and right may differ: an entity may be regular among gold and overlapped among predictions. "
    "Fragments and relations that several entities share count once."
)

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in sections under one heading; the first column holds names, the others values. `note` goes below."""

    title: str
    columns: tuple[str, ...]
    sections: list[list[Row]]
    note: str = ""


def tables(evaluation: Evaluation) -> Iterator[Table]:
    """All metrics: entities overall, by kind and by label, other metrics; errors; calibration if there are scores."""
    yield _figures(evaluation)
    yield _lenient(evaluation)
    yield _errors(evaluation)
    if evaluation.calibration.error is not None:
        yield _calibration(evaluation.calibration, evaluation.calibration.error)


def _figures(evaluation: Evaluation) -> Table:
    kinds = [_row(kind.value, counts) for kind, counts in evaluation.kinds.items()]
    labels = [_row(label, counts) for label, counts in sorted(evaluation.labels.items())]
    sentences = f"in sentences with discontinuous gold ({evaluation.n_discontinuous_sentences:,})"
    others = [
        _row(sentences, evaluation.discontinuous_sentences),
        _row("fragments", evaluation.fragments),
        _row("relations", evaluation.relations),
    ]
    intervals = (
        f"{100 * LEVEL:.0f} % intervals of F1 over documents: all {shown_interval(evaluation.overall_interval())}, "
        f"discontinuous {shown_interval(evaluation.discontinuous_interval())}"
    )
    return Table(
        f"Entities of {counted(evaluation.documents, 'documents')}",
        FIGURES,
        [[_row("all", evaluation.overall)], kinds, labels, others],
        f"{intervals}. {SUMS}",
    )


def _lenient(evaluation: Evaluation) -> Table:
    rows = [
        _row("same label, a shared word", evaluation.lenient.same_label),
        _row("any label, a shared word", evaluation.lenient.any_label),
    ]
    note = "Lenient: an entity counts if it shares a word with one of the other side. All other figures are strict."
    return Table("Lenient matching", FIGURES, [rows], note)


def _row(name: str, counts: Counts) -> Row:
    """A dash if there is nothing to divide by."""
    return (
        name,
        percent(counts.precision) if counts.predicted else NONE,
        percent(counts.recall) if counts.gold else NONE,
        NONE if counts.is_empty else percent(counts.f1),
        *_numbers(counts.gold, counts.found, counts.predicted, counts.right),
    )


def _errors(evaluation: Evaluation) -> Table:
    rows = [
        (error.words, *_numbers(count.errors, count.gold, count.predicted))
        for error, count in evaluation.errors.items()
    ]
    return Table("Errors", ("", "times", "gold missed", "predicted wrong"), [rows])


def _calibration(calibration: Calibration, error: float) -> Table:
    rows: list[Row] = [
        (f"{bin.low:.1f} to {bin.high:.1f}", percent(bin.mean_score), percent(bin.share_right), f"{bin.count:,}")
        for bin in calibration.bins
        if bin.count
    ]
    note = f"expected calibration error {percent(error)}"
    return Table("Calibration", ("score", "mean score", "share right", "predictions"), [rows], note)


def percent(figure: float) -> str:
    return f"{100 * figure:.1f}"


def _numbers(*numbers: int) -> Row:
    return tuple(f"{number:,}" for number in numbers)


def shown_interval(interval: Interval | None) -> str:
    return f"{percent(interval.low)} to {percent(interval.high)}" if interval else NONE
