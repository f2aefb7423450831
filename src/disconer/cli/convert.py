"""`disconer convert`: annotated text from any format into any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import progress, report
from disconer.core.ledger import Ledger
from disconer.formats import format_for, format_named, read, write


def convert(
    source: Path,
    target: Path,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    skip_bad: bool = False,
    force: bool = False,
) -> Ledger:
    """Copy every document of `source` to `target`; the ledger counts what was skipped, normalised or lost."""
    ledger = Ledger(skip_bad=skip_bad)
    format_named(to_format) if to_format else format_for(target)  # report a wrong name before any work
    documents = progress(read(source, from_format, ledger), "documents")
    write(documents, target, to_format, ledger, force=force)
    return ledger


def convert_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help="File or folder to write.")],
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format of DST; taken from its suffix if not given.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite DST.")] = False,
) -> None:
    """Convert annotated text from one format to another; what the new format cannot represent is counted.

    `disconer formats` lists the formats.
    """
    report(convert(source, target, from_format=from_format, to_format=to_format, skip_bad=skip_bad, force=force))
