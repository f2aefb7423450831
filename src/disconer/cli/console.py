"""Terminal output shared by all commands: progress and ledger on stderr, results and tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from disconer.core.counting import counted
from disconer.core.ledger import Amount, Ledger
from disconer.core.progress import progress

if TYPE_CHECKING:
    from rich.table import Table as RichTable

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
            listed = ", ".join(counted(count, what) for what, count in counts.most_common())
            print(f"{heading}: {listed}", file=sys.stderr)


def say_written(written: Amount, path: Path, format: str) -> None:
    """Say on stderr what was written, and from what, as a format may not be able to hold all of it."""
    print(f"written: {path} ({format}), from {written}", file=sys.stderr)


_UNBOUNDED = 10_000  # columns: a table written to a file is never truncated
_EDGES, _GAP = 2, 3  # blanks around a table, and between two of its columns

Rows = Sequence[Sequence[str]]


def show(title: str, columns: Sequence[str], sections: Iterable[Iterable[Sequence[str]]]) -> None:
    """Print a table. The first column holds names, left-aligned, the others numbers; a line separates sections.

    On a terminal that is too narrow, names wrap, and then columns that do not fit follow below, beside the names again.
    """
    from rich.console import Console

    width = None if sys.stdout.isatty() else _UNBOUNDED
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    content = [list(section) for section in sections]
    for number, block in enumerate(_blocks(columns, [row for section in content for row in section], console.width)):
        picked = [[[row[one] for one in block] for row in section] for section in content]
        console.print(_table(None if number else title, [columns[one] for one in block], picked))


def _blocks(columns: Sequence[str], rows: Rows, width: int) -> Iterator[list[int]]:
    """The columns that fit side by side, block by block; each block repeats the names, wrapped between words."""
    from rich.cells import cell_len

    names = _EDGES + max((cell_len(word) for row in rows for word in row[0].split()), default=0)
    block, used = [0], names
    for number in range(1, len(columns)):
        own = _GAP + max(map(cell_len, (columns[number], *(row[number] for row in rows))))
        if used + own > width and len(block) > 1:
            yield block
            block, used = [0], names
        block.append(number)
        used += own
    yield block


def _table(title: str | None, columns: Sequence[str], sections: Iterable[Rows]) -> RichTable:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold", no_wrap=number > 0)
    for section in sections:
        for row in section:
            table.add_row(*row)
        table.add_section()
    return table


def show_evaluation(evaluation: Evaluation) -> None:
    """Print all tables of an evaluation."""
    from disconer.evaluate.table import tables

    for table in tables(evaluation):
        show(table.title, table.columns, table.sections)
        if table.note:
            print(f"{table.note}\n")
