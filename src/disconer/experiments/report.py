"""The report of runs: Markdown, LaTeX, CSV, a page, and its charts as pictures."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from disconer.core.files import replace_file
from disconer.core.types import Kind
from disconer.core.version import __version__
from disconer.evaluate.table import NONE, Table
from disconer.experiments.figures import KIND, OVERALL, PART, Cell, Comparison, Measure, compare_runs
from disconer.experiments.results import read_results
from disconer.experiments.tables import speed_table, split_of, tables, whole
from disconer.render.report.bars import Bar, BarSeries, bar_chart, bar_picture
from disconer.render.report.parts import head, table_html
from disconer.render.report.plots import Axis, Dot, Series, plot

REPORT = "report"  # the folder in that of an experiment


def write_report(folders: Sequence[str | Path], out: str | Path) -> Comparison:
    """Write the report of all runs below some folders; returns what it says."""
    comparison = compare_runs(read_results([Path(folder) for folder in folders]))
    listed = list(tables(comparison))
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    files = {
        "report.md": markdown(comparison, listed),
        "report.tex": latex(comparison, listed),
        "report.html": page(comparison, listed),
        "figures.csv": figures_csv(comparison),
        "differences.csv": differences_csv(comparison),
        "speed.csv": table_csv(speed_table(comparison)),
    } | {f"{chart.name}.svg": chart.svg() for chart in charts(comparison)}
    for name, text in files.items():
        replace_file(out / name, text.encode("utf-8", "replace"))
    return comparison


TICKS = (0, 20, 40, 60, 80, 100)
_ON_ONE_LINE = "th, td { white-space: nowrap; }\n"


def page(comparison: Comparison, tables: Sequence[Table]) -> str:
    start = head(comparison.title, {comparison.about: "", "disconer": __version__}, style=_ON_ONE_LINE)
    drawn = "\n".join(chart.html() for chart in charts(comparison))
    curves = "\n".join(_curves(comparison))
    learning = f'<h2>Learning curves</h2>\n<div class="plots">\n{curves}\n</div>\n' if curves else ""
    listed = "".join(map(table_html, tables))
    return f"{start}<h2>Charts</h2>\n{drawn}\n{learning}{listed}</body>\n</html>\n"


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars of all systems on a corpus. name: of its file."""

    name: str
    title: str
    groups: Sequence[str]
    series: Sequence[BarSeries]

    def html(self) -> str:
        return bar_chart(self.title, self.groups, self.series)

    def svg(self) -> str:
        return bar_picture(self.title, self.groups, self.series)


def charts(comparison: Comparison) -> Iterator[Chart]:
    """For each corpus, F1 by kind, and of fragments and relations alone."""
    for corpus in comparison.corpora:
        cells = [cell for cell in whole(comparison.of(corpus)) if cell.figures]
        split = split_of(cells)
        if split is None:
            continue
        by_kind = {"all": Measure(split, OVERALL, "all")}
        by_kind |= {kind.value: Measure(split, KIND, kind.value) for kind in Kind}
        parts = {name: Measure(split, PART, name) for name in ("fragments", "relations")}
        file = re.sub(r"[^\w.+-]+", "-", corpus)
        yield _chart(f"{file}-kinds", f"{corpus}: F1 by kind, on {split}", by_kind, cells)
        yield _chart(f"{file}-parts", f"{corpus}: F1 of fragments and relations alone, on {split}", parts, cells)


def _chart(name: str, title: str, measures: dict[str, Measure], cells: Sequence[Cell]) -> Chart:
    series = [BarSeries(cell.place.system, [_bar(cell, measure) for measure in measures.values()]) for cell in cells]
    return Chart(name, title, list(measures), series)


def _bar(cell: Cell, measure: Measure) -> Bar:
    figure = cell.figures.get(measure)
    if figure is None:
        return Bar(None)
    return Bar(100 * figure.mean, None if figure.sd is None else 100 * figure.sd)


def _curves(comparison: Comparison) -> Iterator[str]:
    """F1 by share of the training data, for corpora where a system has several."""
    for corpus in comparison.corpora:
        cells = [cell for cell in comparison.of(corpus) if cell.figures]
        split = split_of(cells)
        shares = sorted({100 * cell.place.share for cell in cells})
        if split is None or len(shares) < 2:
            continue
        x = Axis("share of the training data (%)", shares[0], shares[-1], shares, log=True)
        for title, measure in (
            ("all entities", Measure(split, OVERALL, "all")),
            ("discontinuous alone", Measure(split, KIND, Kind.DISCONTINUOUS.value)),
        ):
            series = list(_series(cells, measure))
            if series:
                yield plot(f"{corpus}: {title}, on {split}", x, Axis("F1", 0, 100, TICKS), series)


def _series(cells: Sequence[Cell], measure: Measure) -> Iterator[Series]:
    for system in dict.fromkeys(cell.place.system for cell in cells):
        own = sorted((cell for cell in cells if cell.place.system == system), key=lambda cell: cell.place.share)
        dots = [
            Dot(100 * cell.place.share, 100 * figure.mean, f"{system}, {100 * cell.place.share:g} %: {figure}")
            for cell in own
            if (figure := cell.figures.get(measure)) is not None
        ]
        if len(dots) > 1:
            yield Series(system, [(dot.x, dot.y) for dot in dots], dots)


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
