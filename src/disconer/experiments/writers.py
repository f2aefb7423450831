"""The tables of a comparison as Markdown and LaTeX, and its figures as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from disconer.evaluate.table import NONE, Table
from disconer.experiments.figures import Comparison


def markdown(comparison: Comparison, tables: Iterable[Table]) -> str:
    parts = [f"# {comparison.title}", comparison.about, *map(_markdown_table, tables)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_table(table: Table) -> str:
    rows = [row for section in table.sections for row in section]
    lines = [table.columns, ("---", *("---:" for _ in table.columns[1:])), *rows]
    listed = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"## {table.title}\n\n{listed}\n\n{table.note}"


_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {character: f"\\{character}" for character in "&%$#_{}"}
_SPECIAL |= {"±": r"$\pm$", "–": "--", "−": "$-$", "…": r"\dots{}", "<": "$<$", ">": "$>$"}
_SPECIALS = re.compile("|".join(map(re.escape, _SPECIAL)))


def latex(comparison: Comparison, tables: Iterable[Table]) -> str:
    r"""Tables to be included with \input; they need the package booktabs."""
    head = f"% {comparison.title}: made by disconer. Needs \\usepackage{{booktabs}}.\n"
    return head + "\n".join(map(_latex_table, tables))


def _latex_table(table: Table) -> str:
    bodies = "\n\\midrule\n".join("\n".join(map(_latex_row, section)) for section in table.sections if section)
    return (
        f"\\begin{{table}}\n\\centering\n\\caption{{{_latex(table.title)}. {_latex(table.note)}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}\n\\toprule\n{_latex_row(table.columns)}\n\\midrule\n"
        f"{bodies}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _latex_row(row: Sequence[str]) -> str:
    return " & ".join(map(_latex, row)) + r" \\"


def _latex(text: str) -> str:
    r"""
    >>> _latex("cell_line: 68.4 ± 0.5")
    'cell\\_line: 68.4 $\\pm$ 0.5'
    """
    return _SPECIALS.sub(lambda match: _SPECIAL[match.group()], text)


def figures_csv(comparison: Comparison) -> str:
    """One row per figure, with full precision."""
    columns = ("corpus", "system", "share", "split", "group", "name", "metric", "mean", "sd", "runs")
    return _csv(columns, _figure_rows(comparison))


def _figure_rows(comparison: Comparison) -> Iterator[Sequence[object]]:
    for cell in comparison.cells:
        place = (cell.place.corpus, cell.place.system, f"{cell.place.share:g}")
        for measure, figure in cell.figures.items():
            yield *place, *measure, figure.mean, "" if figure.sd is None else figure.sd, figure.runs


def differences_csv(comparison: Comparison) -> str:
    """One row per pair of systems: F1 of the first minus F1 of the second."""
    columns = ("corpus", "share", "split", "system", "other", "entities", "difference", "low", "high", "p")
    return _csv(columns, _difference_rows(comparison))


def _difference_rows(comparison: Comparison) -> Iterator[Sequence[object]]:
    for pair in comparison.compared:
        place = (pair.one.corpus, f"{pair.one.share:g}", pair.split, pair.one.system, pair.other.system)
        for entities, found in (("all", pair.overall), ("discontinuous", pair.discontinuous)):
            yield *place, entities, found.f1, *found.interval, found.p


def table_csv(table: Table) -> str:
    rows = (["" if cell == NONE else cell for cell in row] for section in table.sections for row in section)
    return _csv(table.columns, rows)


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
