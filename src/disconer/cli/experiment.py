"""`disconer experiment`: a matrix of training runs, and its report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import show
from disconer.core.counting import counted
from disconer.core.errors import INTERRUPTED, DisconerError
from disconer.core.plugins import require_training

if TYPE_CHECKING:
    from disconer.experiments.figures import Comparison  # loaded when the command runs, so that --help is fast


def experiment_cli(
    sources: Annotated[
        list[Path], typer.Argument(metavar="STUDY", help="A study (YAML). With --report: folders of runs, one or more.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for runs, logs and report. With --report: for the report alone."),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", min=1, help="Number of concurrent runs, on one GPU or the CPU's cores."
        ),
    ] = 1,
    report: Annotated[
        bool, typer.Option("--report", help="Train nothing; report on finished runs, wherever they were trained.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs of STUDY with their settings, and check them.")
    ] = False,
) -> None:
    """Train all combinations of a study (corpora, heads, seeds, …) and compare them.

    The same command continues an experiment after an interruption: finished runs are skipped, others resumed. A failed
    run does not affect the others; the table shows why it failed.

    The report, in OUT/report, has means and deviations over seeds: by kind, label, length and gap, paired bootstrap
    tests, speed and size; as Markdown, LaTeX, CSV, and an HTML page with charts, which are also saved as SVG. --report
    makes it from any folders that `disconer experiment` or `disconer train` wrote.

    The exit code is 1 if a run failed, else 0.
    """
    if report:
        _report(sources, out)
        return
    if len(sources) != 1:
        raise DisconerError(
            "Only one study can be run at a time", got=f"{len(sources)}", fix="Add --report to compare folders of runs."
        )
    if dry_run:
        _list_runs(sources[0])
    elif out is None:
        raise DisconerError("An experiment needs a folder", fix="Name it with --out.")
    else:
        _run(sources[0], out, jobs)


def _run(study: Path, out: Path, jobs: int) -> None:
    from disconer.experiments.experiment import run_experiment

    require_training("An experiment")
    try:
        outcome = run_experiment(study, out, jobs=jobs)
    except KeyboardInterrupt:
        print("\nstopped; run the same command again to continue.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _show(outcome.comparison, outcome.report)
    if outcome.n_failed:
        failed = (
            "1 run failed; its log is" if outcome.n_failed == 1 else f"{outcome.n_failed} runs failed; their logs are"
        )
        print(f"{failed} in {out / 'logs'}", file=sys.stderr)
        raise typer.Exit(1)


def _report(folders: list[Path], out: Path | None) -> None:
    from disconer.experiments.report import REPORT, write_report

    target = out or folders[0] / REPORT
    _show(write_report(folders, target), target)


def _show(comparison: Comparison, report: Path) -> None:
    from disconer.experiments.tables import failures, summary

    table = summary(comparison)
    show(table.title, table.columns, table.sections)
    print("\n".join([table.note, *failures(comparison)]))
    print(f"\nThe report is in {report}")


def _list_runs(path: Path) -> None:
    from disconer.experiments.study import load_study

    runs = load_study(path).runs()
    n_bad = 0
    for run in runs:
        print(f"{run.name}: disconer train {run.config} {' '.join(f'--set {one}' for one in run.overrides)}".rstrip())
        try:
            run.load()
        except DisconerError as error:
            n_bad += 1
            print(f"  {error}")
    print(f"\n{counted(len(runs), 'runs')}, {n_bad} with an error")
    if n_bad:
        raise typer.Exit(1)
