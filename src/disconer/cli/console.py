"""Terminal output shared by all commands: progress and ledger on stderr, results and tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from disconer.core.ledger import Amount, Ledger
from disconer.core.progress import progress

if TYPE_CHECKING:
    from disconer.evaluate import Evaluation

__all__ = ["progress", "report", "say_written", "show", "show_evaluation"]


def report(ledger: Ledger) -> None:
    """Report on stderr what was skipped, normalised and lost."""
    for error in ledger.examples:
        print(f"skipped: {error}", file=sys.stderr)
    hidden = ledger.errors.total() - len(ledger.examples)
    if hidden > 0:
        print(f"skipped: {hidden} more", file=sys.stderr)
    for heading, counts in (("skipped", ledger.errors), ("normalised", ledger.repairs), ("lost", ledger.losses)):
        if counts:
            listed = ", ".join(f"{count} {what}" for what, count in counts.most_common())
            print(f"{heading}: {listed}", file=sys.stderr)


def say_written(written: Amount, path: Path, format: str) -> None:
    """Say on stderr what was written, and where."""
    print(f"written: {written} as {format} in {path}", file=sys.stderr)


_UNBOUNDED = 10_000  # columns: a table written to a file is never truncated


def show(title: str, columns: Sequence[str], sections: Iterable[Iterable[Sequence[str]]]) -> None:
    """Print a table. The first column holds names, left-aligned, the others numbers; a line separates sections."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for section in sections:
        for row in section:
            table.add_row(*row)
        table.add_section()
    width = None if sys.stdout.isatty() else _UNBOUNDED
    Console(width=width, markup=False, highlight=False, emoji=False).print(table)


def show_evaluation(evaluation: Evaluation) -> None:
    """Print all tables of an evaluation."""
    from disconer.evaluate.table import tables

    for table in tables(evaluation):
        show(table.title, table.columns, table.sections)
        if table.note:
            print(f"{table.note}\n")
