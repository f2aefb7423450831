"""The page of a comparison: charts and all tables, in one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from disconer.core.types import Kind
from disconer.core.version import __version__
from disconer.evaluate.table import Table
from disconer.experiments.figures import KIND, OVERALL, PART, Cell, Comparison, Measure
from disconer.experiments.tables import split_of, whole
from disconer.render.report.bars import Bar, BarSeries, bar_chart, bar_picture
from disconer.render.report.parts import head, table_html
from disconer.render.report.plots import Axis, Dot, Series, plot

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
