"""The report of runs: Markdown, LaTeX, CSV, a page, and its charts as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disconer.core.files import replace_file
from disconer.experiments.figures import Comparison, compare_runs
from disconer.experiments.page import charts, page
from disconer.experiments.results import read_results
from disconer.experiments.tables import speed_table, tables
from disconer.experiments.writers import differences_csv, figures_csv, latex, markdown, table_csv

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
