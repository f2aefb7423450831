"""An evaluation for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from disconer.evaluate.bootstrap import LEVEL, Interval
from disconer.evaluate.calibration import Calibration
from disconer.evaluate.counts import Counts
from disconer.evaluate.evaluation import Evaluation

NONE = "–"


def tables(evaluation: Evaluation) -> RenderableType:
    """All figures: overall, by kind, by label, other measures, errors, calibration."""
    parts: list[RenderableType] = [_figures(evaluation), Text(interval_line(evaluation)), _errors(evaluation)]
    if evaluation.calibration.scored:
        parts.append(_calibration(evaluation.calibration))
    return Group(*parts)


Row = tuple[str, Counts]


def sections(evaluation: Evaluation) -> Iterator[tuple[str, list[Row]]]:
    """The figures as people read them: a heading and its rows."""
    yield "", [("all entities", evaluation.overall)]
    yield "kind", [(kind.value, counts) for kind, counts in evaluation.kinds.items()]
    yield "label", sorted(evaluation.labels.items())
    n_sentences = evaluation.n_discontinuous_sentences
    yield (
        "other measures",
        [
            (f"entities of the {n_sentences:,} sentences with discontinuous gold", evaluation.discontinuous_sentences),
            ("fragments", evaluation.fragments),
            ("relations (succession)", evaluation.relations),
        ],
    )


def percent(figure: float) -> str:
    return f"{100 * figure:.1f}"


def ratios(counts: Counts) -> tuple[str, str, str]:
    """Precision, recall and F1 in per cent; a dash where there is nothing to divide by."""
    return (
        percent(counts.precision) if counts.predicted else NONE,
        percent(counts.recall) if counts.gold else NONE,
        NONE if counts.is_empty else percent(counts.f1),
    )


def interval_line(evaluation: Evaluation) -> str:
    overall, alone = evaluation.overall_interval(), evaluation.discontinuous_interval()
    return (
        f"{100 * LEVEL:.0f} % intervals of F1 over {evaluation.documents:,} documents: "
        f"all {_interval(overall)}, discontinuous {_interval(alone)}"
    )


def _interval(interval: Interval | None) -> str:
    return f"{percent(interval.low)} to {percent(interval.high)}" if interval else NONE


def _table(first: str, columns: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _figures(evaluation: Evaluation) -> Table:
    table = _table("", ("P", "R", "F1", "gold", "found", "predicted", "right"))
    for heading, rows in sections(evaluation):
        if heading:
            table.add_section()
            table.add_row(f"[bold]{heading}[/bold]")
        for name, counts in rows:
            numbers = (f"{number:,}" for number in (counts.gold, counts.found, counts.predicted, counts.right))
            table.add_row(escape(name), *ratios(counts), *numbers)
    return table


def _errors(evaluation: Evaluation) -> Table:
    table = _table("errors", ("times", "gold missed", "predicted wrong"))
    for error, count in evaluation.errors.items():
        table.add_row(error.words, f"{count.errors:,}", f"{count.gold:,}", f"{count.predicted:,}")
    return table


def _calibration(calibration: Calibration) -> Table:
    table = _table("score", ("mean score", "share right", "predictions"))
    for bin in calibration.bins:
        if bin.count:
            shares = percent(bin.mean_score), percent(bin.share_right)
            table.add_row(f"{bin.low:.1f} to {bin.high:.1f}", *shares, f"{bin.count:,}")
    table.caption = f"expected calibration error {percent(calibration.error or 0.0)}"
    return table
